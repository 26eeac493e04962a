//! Handler calls that wait for a slot.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::activity::Busy;
use crate::engine::{Task, View};
use crate::ids::Name;
use crate::registry::Resident;

/// One handler call to make.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) run: Arc<Resident>,
    pub(crate) task: Box<Task>,
    pub(crate) view: View,
    /// Whether this is the first step of a new run.
    pub(crate) first: bool,
    /// Whether its last call was lost with the process that made it.
    pub(crate) lost: bool,
    /// The engine is busy until the call's outcome is enqueued.
    pub(crate) busy: Busy,
}

/// The queue of handler calls: work that goes on before new runs, and the flows in turn.
///
/// A slot is a task that takes calls one after another until none are left, so that a busy engine starts
/// no task for each call.
#[derive(Debug)]
pub(crate) struct ReadyQueue {
    queue: Mutex<Queue>,
    slots_max: usize,
    /// Told when the last slot has ended.
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    lanes: Vec<Lane>,
    /// Which lane a flow's calls wait in.
    by_flow: HashMap<Name, usize>,
    /// Whose turn it is.
    turn: usize,
    waiting: usize,
    slots: usize,
    stopped: bool,
}

/// The calls of one flow.
#[derive(Debug, Default)]
struct Lane {
    resumed: VecDeque<Job>,
    fresh: VecDeque<Job>,
}

impl ReadyQueue {
    pub(crate) fn new(slots_max: usize) -> Self {
        Self { queue: Mutex::default(), slots_max, emptied: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds calls. Gives the first call of each slot that the caller has to start.
    pub(crate) fn push(&self, jobs: impl IntoIterator<Item = Job>) -> Vec<Job> {
        let mut queue = self.lock();
        if queue.stopped {
            // Dropped: the store still knows of them.
            return Vec::new();
        }
        for job in jobs {
            queue.push(job);
        }
        let start = queue.waiting.min(self.slots_max - queue.slots);
        queue.slots += start;
        // Each slot gets its first call here, and need not come for it.
        (0..start).map_while(|_| queue.pop()).collect()
    }

    /// The next call for a slot; with `None` the slot has ended.
    pub(crate) fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        let job = if queue.stopped { None } else { queue.pop() };
        if job.is_none() {
            queue.slots -= 1;
            if queue.slots == 0 {
                self.emptied.notify_waiters();
            }
        }
        job
    }

    /// Calls that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Slots that are in use.
    pub(crate) fn running(&self) -> usize {
        self.lock().slots
    }

    /// Completes once no slot is in use.
    pub(crate) async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.running() == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// Hands out no more calls and forgets the waiting ones; the store still knows of them.
    pub(crate) fn stop(&self) {
        let dropped = {
            let mut queue = self.lock();
            queue.stopped = true;
            queue.waiting = 0;
            std::mem::take(&mut queue.lanes)
        };
        drop(dropped);
    }
}

impl Queue {
    fn push(&mut self, mut job: Job) {
        // Until a slot takes it; none waits while a slot is free.
        job.busy.wait();
        let flow = &job.run.identity().flow;
        let lane = if let Some(lane) = self.by_flow.get(flow) {
            *lane
        } else {
            self.by_flow.insert(flow.clone(), self.lanes.len());
            self.lanes.push(Lane::default());
            self.lanes.len() - 1
        };
        if let Some(lane) = self.lanes.get_mut(lane) {
            if job.first {
                lane.fresh.push_back(job);
            } else {
                lane.resumed.push_back(job);
            }
            self.waiting += 1;
        }
    }

    fn pop(&mut self) -> Option<Job> {
        let mut job =
            self.pop_from(|lane| &mut lane.resumed).or_else(|| self.pop_from(|lane| &mut lane.fresh))?;
        job.busy.go_on();
        self.waiting -= 1;
        Some(job)
    }

    /// The oldest call of the next lane in turn that has one.
    fn pop_from(&mut self, class: impl Fn(&mut Lane) -> &mut VecDeque<Job>) -> Option<Job> {
        let lanes = self.lanes.len();
        for ahead in 0..lanes {
            let place = (self.turn + ahead) % lanes;
            if let Some(job) = self.lanes.get_mut(place).and_then(|lane| class(lane).pop_front()) {
                self.turn = (place + 1) % lanes;
                return Some(job);
            }
        }
        None
    }
}
