//! Handler calls that wait for a slot.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tokio::sync::{Notify, oneshot};

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
/// A slot is a task that takes calls one after another until none are left, and then rests until there are some again,
/// so that a busy engine starts no task for each call.
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
    by_flow: FxHashMap<Name, usize>,
    /// Whose turn it is.
    turn: usize,
    waiting: usize,
    /// Slots that make a call.
    slots: usize,
    /// Slots that rest. Who rested last comes first: what it needs is still near the processor.
    resting: Vec<oneshot::Sender<Job>>,
    stopped: bool,
}

/// Slots that rest at most, the others end. To start one takes longer than to wake it, but each keeps about 1.5 KB.
const RESTING_MAX: usize = 256;

/// What a slot does after a call.
#[derive(Debug)]
pub(crate) enum Next {
    /// The next call.
    Call(Job),
    /// It rests until this has a call, and ends if nothing will come.
    Rest(oneshot::Receiver<Job>),
    /// It ends.
    End,
}

/// Calls to make: one, unless a batch of commits has led to more.
pub(crate) type Begins = SmallVec<[Begin; 1]>;

/// A call to make, with a slot for it if one rests.
#[derive(Debug)]
pub(crate) struct Begin {
    job: Job,
    slot: Option<oneshot::Sender<Job>>,
}

impl Begin {
    /// Wakes the slot that rests. Gives the call if the caller has to start a slot for it.
    pub(crate) fn wake(self) -> Option<Job> {
        match self.slot {
            // It is gone if its runtime is.
            Some(slot) => slot.send(self.job).err(),
            None => Some(self.job),
        }
    }
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

    /// Adds calls. Gives those for which there is a slot, for the caller to begin.
    pub(crate) fn push(&self, jobs: impl IntoIterator<Item = Job>) -> Begins {
        let mut queue = self.lock();
        if queue.stopped {
            // Dropped: the store still knows of them.
            return Begins::new();
        }
        for job in jobs {
            queue.push(job);
        }
        let start = queue.waiting.min(self.slots_max - queue.slots);
        queue.slots += start;
        // Each slot gets its first call here, and need not come for it.
        (0..start).map_while(|_| Some(Begin { job: queue.pop()?, slot: queue.resting.pop() })).collect()
    }

    /// What a slot does that has made its call.
    pub(crate) fn next(&self) -> Next {
        let mut queue = self.lock();
        if !queue.stopped
            && let Some(job) = queue.pop()
        {
            return Next::Call(job);
        }
        queue.slots -= 1;
        if queue.slots == 0 {
            self.emptied.notify_waiters();
        }
        if queue.stopped || queue.resting.len() >= RESTING_MAX {
            return Next::End;
        }
        let (slot, rest) = oneshot::channel();
        queue.resting.push(slot);
        Next::Rest(rest)
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
            (std::mem::take(&mut queue.lanes), std::mem::take(&mut queue.resting))
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
