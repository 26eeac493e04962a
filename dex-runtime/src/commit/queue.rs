//! The commits that wait to be written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::store::{RunCommit, StoreError};

/// A commit's place in the order of writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The queue in front of the committing thread. `A` is what is handed to the sink after the commit.
#[derive(Debug)]
pub(crate) struct Committer<A> {
    queue: Mutex<Queue<A>>,
    filled: Condvar,
    /// Permits given and not yet written. Beside the lock, since most callers only count.
    taken: AtomicUsize,
    taken_max: usize,
    has_written: AtomicBool,
    written: watch::Sender<Progress>,
}

#[derive(Debug)]
struct Queue<A> {
    waiting: Waiting<A>,
    last: Ticket,
    ended: bool,
    /// Nobody takes anything from here any more.
    gone: bool,
}

/// Commits and what follows them, place by place.
#[derive(Debug)]
pub(super) struct Waiting<A> {
    pub(super) commits: Vec<RunCommit>,
    pub(super) after: Vec<A>,
    /// Which of them have to be on disk before what follows happens.
    pub(super) durable: Vec<bool>,
}

impl<A> Waiting<A> {
    pub(super) fn new() -> Self {
        Self { commits: Vec::new(), after: Vec::new(), durable: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.commits.clear();
        self.after.clear();
        self.durable.clear();
    }
}

/// What the committing thread has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Write commits, of which this is the last.
    Write(Ticket),
    /// Nothing has come while the patience lasted.
    Idle,
    /// The queue has ended and is empty.
    Ended,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) written: Ticket,
    pub(super) fault: Option<StoreError>,
    /// Nothing more will be written.
    pub(super) ended: bool,
}

/// Why a commit was not taken. Nothing has changed then.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NotTaken {
    #[error("{waiting} commits wait to be written, no more are taken: the disk does not keep up")]
    Full { waiting: usize },
    #[error(transparent)]
    Fault(#[from] StoreError),
    #[error("the engine was shut down")]
    Ended,
}

/// The right to enqueue one commit. Taken before a transition is decided, since what was decided must be
/// enqueued.
#[derive(Debug)]
pub(crate) struct Permit<'a, A> {
    committer: &'a Committer<A>,
}

impl<A> Committer<A> {
    pub(crate) fn new(taken_max: usize) -> Self {
        Self {
            queue: Mutex::new(Queue { waiting: Waiting::new(), last: Ticket(0), ended: false, gone: false }),
            filled: Condvar::new(),
            taken: AtomicUsize::new(0),
            taken_max,
            has_written: AtomicBool::new(false),
            written: watch::Sender::new(Progress::default()),
        }
    }

    /// Takes a place in the queue; an urgent commit gets one even in a full queue.
    pub(crate) fn permit(&self, urgent: bool) -> Result<Permit<'_, A>, NotTaken> {
        let waiting = self.taken.fetch_add(1, Ordering::Relaxed);
        let permit = Permit { committer: self };
        if waiting >= self.taken_max && !urgent {
            return Err(NotTaken::Full { waiting });
        }
        if let Some(fault) = &self.written.borrow().fault {
            return Err(fault.clone().into());
        }
        if self.lock().ended {
            return Err(NotTaken::Ended);
        }
        Ok(permit)
    }

    /// Whether everything up to `ticket` is on disk, waiting for it if need be.
    pub(crate) async fn durable(&self, ticket: Ticket) -> Result<(), NotTaken> {
        let mut written = self.written.subscribe();
        let progress =
            written.wait_for(|now| now.written >= ticket || now.fault.is_some() || now.ended).await;
        let progress = progress.map_err(|_| NotTaken::Ended)?.clone();
        match progress.fault {
            _ if progress.written >= ticket => Ok(()),
            Some(fault) => Err(fault.into()),
            None => Err(NotTaken::Ended),
        }
    }

    /// Whether anything was written.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written.load(Ordering::Relaxed)
    }

    /// Takes no more commits; the thread ends once it has written what it has.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.filled.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Queue<A>> {
        // The queue is whole at every point where a panic could happen.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for commits, as long as `patience` lasts if it has an end, and takes up to `max` of them.
    pub(super) fn take(
        &self,
        max: usize,
        spare: &mut Waiting<A>,
        patience: impl Fn() -> Option<Duration>,
    ) -> Turn {
        let mut queue = self.lock();
        while queue.waiting.commits.is_empty() {
            if queue.ended {
                queue.gone = true;
                return Turn::Ended;
            }
            queue = match patience() {
                Some(Duration::ZERO) => return Turn::Idle,
                Some(rest) => {
                    let woken = self.filled.wait_timeout(queue, rest);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
        std::mem::swap(&mut queue.waiting, spare);
        if spare.commits.len() > max {
            queue.waiting.commits = spare.commits.split_off(max);
            queue.waiting.after = spare.after.split_off(max);
            queue.waiting.durable = spare.durable.split_off(max);
        }
        Turn::Write(Ticket(queue.last.0 - queue.waiting.commits.len() as u64))
    }

    /// Notes that so many commits were written, with a sync or without, and gives their places back.
    pub(super) fn note_taken(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
        self.has_written.store(true, Ordering::Relaxed);
    }

    /// Notes that nothing more will be written.
    pub(super) fn note_ended(&self) {
        self.written.send_modify(|progress| progress.ended = true);
    }

    /// Notes that everything up to `ticket` is on disk.
    pub(super) fn note_written(&self, ticket: Ticket) {
        self.written.send_modify(|progress| progress.written = ticket);
    }

    pub(super) fn note_fault(&self, fault: StoreError) {
        self.end();
        self.written.send_modify(|progress| progress.fault = Some(fault));
    }

    pub(super) fn drain(&self) -> Vec<A> {
        let mut queue = self.lock();
        queue.gone = true;
        queue.waiting.commits.clear();
        queue.waiting.durable.clear();
        std::mem::take(&mut queue.waiting.after)
    }
}

impl<A> Permit<'_, A> {
    /// Enqueues a commit. Two commits of one run are written in the order of these calls.
    ///
    /// What follows one that is not `durable` happens as soon as it is written, and the sync comes later.
    ///
    /// If the thread has ended since the permit was given, `after` is dropped: whoever waits for it is told
    /// by that.
    pub(crate) fn enqueue(self, commit: RunCommit, after: A, durable: bool) -> Ticket {
        let mut queue = self.committer.lock();
        if queue.gone {
            return Ticket(queue.last.0 + 1);
        }
        queue.waiting.commits.push(commit);
        queue.waiting.after.push(after);
        queue.waiting.durable.push(durable);
        queue.last.0 += 1;
        let (ticket, first) = (queue.last, queue.waiting.commits.len() == 1);
        drop(queue);
        if first {
            self.committer.filled.notify_one();
        }
        // The thread counts it down once it is written.
        std::mem::forget(self);
        ticket
    }
}

impl<A> Drop for Permit<'_, A> {
    fn drop(&mut self) {
        self.committer.taken.fetch_sub(1, Ordering::Relaxed);
    }
}
