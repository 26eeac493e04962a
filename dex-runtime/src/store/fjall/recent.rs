//! What was written lately, run by run or stream by stream, so that a commit need not look it up.

use std::collections::HashMap;
use std::hash::Hash;

/// A bounded map: when the young generation is full it becomes the old one, which is forgotten.
///
/// What falls out costs one look-up when it is written again.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    /// Entries in each of the two generations.
    max: usize,
}

impl<K: Eq + Hash, V> Recent<K, V> {
    pub(super) fn new(max: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), max }
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    /// Forgets all of them.
    pub(super) fn forget(&mut self) {
        (self.young, self.old) = Default::default();
    }

    pub(super) fn set(&mut self, key: K, value: V) {
        if self.young.len() >= self.max && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 100;

    #[test]
    fn the_latest_are_known_and_memory_stays_bounded() {
        let mut recent = Recent::new(MAX);
        for n in 0..MAX * 3 {
            recent.set(n, 1);
        }
        recent.set(0, 2);
        assert_eq!(recent.get(&0), Some(&2));
        assert_eq!(recent.get(&(MAX * 3 - 1)), Some(&1));
        assert_eq!(recent.get(&1), None);
        assert!(recent.young.len() + recent.old.len() <= MAX * 2);
    }

    #[test]
    fn what_was_set_last_counts() {
        let mut recent = Recent::new(MAX);
        recent.set(7, 1);
        for n in 100..100 + MAX {
            recent.set(n, 1);
        }
        recent.set(7, 2);
        assert_eq!(recent.get(&7), Some(&2));
    }
}
