//! How a test makes commits fail, or wait.

use std::sync::{Arc, Condvar, Mutex};

use super::lock;

/// When a commit that is to fail does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailAt {
    /// Nothing was written.
    BeforeWriting,
    /// All of it was.
    AfterWriting,
}

/// What happens to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    DiskFull,
    Fail(FailAt),
}

#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) disk_full: bool,
    taken: u64,
    /// Commits that are to fail, by their number.
    planned: Vec<(u64, FailAt)>,
}

impl Faults {
    pub(super) fn fail(&mut self, nth: u64, at: FailAt) {
        self.planned.push((self.taken + nth, at));
    }

    pub(super) fn forget(&mut self) {
        self.planned.clear();
    }

    /// Counts a commit and says what happens to it.
    pub(super) fn next(&mut self) -> Fault {
        if self.disk_full {
            return Fault::DiskFull;
        }
        self.taken += 1;
        match self.planned.iter().position(|(number, _)| *number == self.taken) {
            Some(place) => Fault::Fail(self.planned.swap_remove(place).1),
            None => Fault::None,
        }
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }
}

/// Whether commits may pass, and how many wait.
#[derive(Debug, Default)]
pub(super) struct GateState {
    state: Mutex<Passage>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Passage {
    closed: bool,
    waiting: usize,
}

impl GateState {
    /// Returns once the gate is open.
    pub(super) fn pass(&self) {
        let mut state = lock(&self.state);
        state.waiting += 1;
        self.changed.notify_all();
        while state.closed {
            state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        state.waiting -= 1;
    }

    fn set(&self, closed: bool) {
        lock(&self.state).closed = closed;
        self.changed.notify_all();
    }
}

/// Keeps commits from being written while it is held.
#[derive(Debug)]
pub struct Gate(Arc<GateState>);

impl Gate {
    pub(super) fn close(state: &Arc<GateState>) -> Self {
        state.set(true);
        Self(Arc::clone(state))
    }

    /// Returns once a commit stands at the gate.
    pub fn wait_for_commit(&self) {
        let mut state = lock(&self.0.state);
        while state.waiting == 0 {
            state = self.0.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Whether a commit stands at the gate.
    pub fn has_commit(&self) -> bool {
        lock(&self.0.state).waiting > 0
    }

    /// Lets commits through from here on.
    pub fn open(self) {
        drop(self);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
