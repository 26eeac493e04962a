//! The last sequence number of runs that were written lately, so that a commit need not look it up.

use std::collections::HashMap;

use crate::ids::RunId;

/// Runs in each of the two generations: about 2 MiB of memory in all.
///
/// Enough for every run that takes part in one merged commit, many times over; a run that falls out costs
/// one look-up when it commits again.
const GENERATION_MAX: usize = 32 * 1024;

/// A bounded map: when the young generation is full it becomes the old one, which is forgotten.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    young: HashMap<RunId, u64>,
    old: HashMap<RunId, u64>,
}

impl Sequences {
    pub(super) fn get(&self, run: RunId) -> Option<u64> {
        self.young.get(&run).or_else(|| self.old.get(&run)).copied()
    }

    pub(super) fn set(&mut self, run: RunId, sequence: u64) {
        if self.young.len() >= GENERATION_MAX && !self.young.contains_key(&run) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(run, sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: usize) -> RunId {
        RunId::from_bytes((n as u128).to_be_bytes())
    }

    #[test]
    fn the_latest_runs_are_known_and_memory_stays_bounded() {
        let mut sequences = Sequences::default();
        for n in 0..GENERATION_MAX * 3 {
            sequences.set(run(n), 1);
        }
        sequences.set(run(0), 2);
        assert_eq!(sequences.get(run(0)), Some(2));
        assert_eq!(sequences.get(run(GENERATION_MAX * 3 - 1)), Some(1));
        assert_eq!(sequences.get(run(1)), None);
        assert!(sequences.young.len() + sequences.old.len() <= GENERATION_MAX * 2);
    }

    #[test]
    fn a_run_has_the_number_that_was_set_last() {
        let mut sequences = Sequences::default();
        sequences.set(run(7), 1);
        for n in 100..100 + GENERATION_MAX {
            sequences.set(run(n), 1);
        }
        sequences.set(run(7), 2);
        assert_eq!(sequences.get(run(7)), Some(2));
    }
}
