//! How far it has got: a progress line on the way, a summary at the end.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Counts runs that have ended, by how they ended.
#[derive(Debug)]
pub(crate) struct Tally {
    expected: usize,
    by_outcome: BTreeMap<String, usize>,
    last_shown: Option<usize>,
}

impl Tally {
    pub(crate) fn new(expected: usize) -> Self {
        Self { expected, by_outcome: BTreeMap::new(), last_shown: None }
    }

    /// Counts one more.
    pub(crate) fn add(&mut self, outcome: &impl fmt::Display) {
        *self.by_outcome.entry(outcome.to_string()).or_default() += 1;
    }

    fn ended(&self) -> usize {
        self.by_outcome.values().sum()
    }

    /// Shows the progress, if there is any: on one line of a terminal, on lines of their own elsewhere.
    pub(crate) fn show_progress(&mut self) {
        let ended = self.ended();
        if self.last_shown.replace(ended) == Some(ended) {
            return;
        }
        let mut out = io::stderr().lock();
        let (start, end) = if out.is_terminal() { ("\r", "") } else { ("", "\n") };
        // Progress that cannot be shown is no reason to stop the work.
        let _ = write!(out, "{start}{ended} of {} orders have ended{end}", self.expected);
    }

    /// Shows the progress for the last time.
    pub(crate) fn finish_progress(&mut self) {
        self.show_progress();
        if io::stderr().is_terminal() {
            let _ = writeln!(io::stderr());
        }
    }
}

/// The summary.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (outcome, count) in &self.by_outcome {
            writeln!(f, "{count:>6}  {outcome}")?;
        }
        write!(f, "{:>6}  in all", self.ended())
    }
}
