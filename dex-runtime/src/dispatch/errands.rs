//! Runs that want something of other runs.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::activity::Busy;
use crate::ids::RunId;
use crate::registry::Resident;

/// Runs whose errands are carried out at the same time. Each of them waits for reads of the store at most.
const SLOTS_MAX: usize = 16;

/// A run with errands; the engine is busy until they are done.
#[derive(Debug)]
pub(crate) struct Errands {
    pub(crate) run: Arc<Resident>,
    pub(crate) _busy: Busy,
}

/// The queue of runs with errands. Each run is in it once, however often it is noted, and one slot at a time
/// is at work for it.
#[derive(Debug, Default)]
pub(crate) struct ErrandQueue(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Errands>,
    /// Runs that wait or are being worked for, with what was noted since the work began.
    known: HashMap<RunId, Option<Errands>>,
    slots: usize,
    stopped: bool,
}

impl ErrandQueue {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that runs have errands. Gives how many slots the caller has to start.
    pub(crate) fn push(&self, all: impl IntoIterator<Item = Errands>) -> usize {
        let mut queue = self.lock();
        if queue.stopped {
            // Dropped: the store still knows of them.
            return 0;
        }
        for errands in all {
            queue.push(errands);
        }
        let start = queue.waiting.len().min(SLOTS_MAX - queue.slots);
        queue.slots += start;
        start
    }

    /// The next run for a slot; with `None` the slot has ended.
    pub(crate) fn next(&self) -> Option<Errands> {
        let mut queue = self.lock();
        let next = if queue.stopped { None } else { queue.waiting.pop_front() };
        if next.is_none() {
            queue.slots -= 1;
        }
        next
    }

    /// A slot has done what it could for a run. Gives what was noted meanwhile, for the same slot to go on with.
    pub(crate) fn done(&self, run: RunId) -> Option<Errands> {
        let mut queue = self.lock();
        let again = queue.known.remove(&run)?;
        if again.is_some() {
            queue.known.insert(run, None);
        }
        again
    }

    /// Runs that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Gives out no more runs and forgets the waiting ones; the store still knows of them.
    pub(crate) fn stop(&self) {
        let dropped = {
            let mut queue = self.lock();
            queue.stopped = true;
            (std::mem::take(&mut queue.waiting), std::mem::take(&mut queue.known))
        };
        drop(dropped);
    }
}

impl Queue {
    fn push(&mut self, errands: Errands) {
        let run = errands.run.identity().run_id;
        if let Some(since) = self.known.get_mut(&run) {
            *since = Some(errands);
        } else {
            self.known.insert(run, None);
            self.waiting.push_back(errands);
        }
    }
}
