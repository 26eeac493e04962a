//! The commits that wait to be written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::appends::{AppendTicket, Rooms, WaitingAppends};
use super::chunks::{Chunk, Chunks};
use crate::store::{RunCommit, StoreError};

/// A commit's place in the order of writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// How far the queue was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) commit: Ticket,
    pub(super) append: AppendTicket,
}

/// The queue in front of the committing thread. `A` is what is handed to the sink after a commit, `B` after an
/// item of a stream.
#[derive(Debug)]
pub(crate) struct Committer<A, B> {
    queue: Mutex<Queue<A, B>>,
    pub(super) filled: Condvar,
    pub(super) rooms: Rooms,
    /// Permits given and not yet written. Beside the lock, since most callers only count.
    taken: AtomicUsize,
    taken_max: usize,
    has_written: AtomicBool,
    /// Nothing more is taken. Beside the lock, as `taken` is.
    over: AtomicBool,
    written: watch::Sender<Progress>,
}

#[derive(Debug)]
pub(super) struct Queue<A, B> {
    commits: Chunks<A>,
    pub(super) appends: WaitingAppends<B>,
    last: Ticket,
    pub(super) last_append: AppendTicket,
    /// How far someone waits for a sync: it is not to wait for its time.
    wanted: Option<Ticket>,
    ended: bool,
    /// Nobody takes anything from here any more.
    gone: bool,
}

/// A batch: what the thread has taken to write.
#[derive(Debug)]
pub(super) struct Batch<A, B> {
    pub(super) chunk: Chunk<A>,
    pub(super) appends: WaitingAppends<B>,
    /// Someone waits until it is on disk.
    wanted: bool,
}

impl<A, B> Queue<A, B> {
    /// Whether it takes nothing more.
    pub(super) fn is_over(&self) -> bool {
        self.ended || self.gone
    }

    pub(super) fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.appends.appends.is_empty()
    }

    /// Puts what waits into `spare`, which is empty: the first chunk of commits, and all items.
    fn take(&mut self, spare: &mut Batch<A, B>) {
        self.commits.take(&mut spare.chunk);
        std::mem::swap(&mut self.appends, &mut spare.appends);
    }
}

impl<A, B> Batch<A, B> {
    pub(super) fn new() -> Self {
        Self { chunk: Chunk::default(), appends: WaitingAppends::new(), wanted: false }
    }

    /// Whether anything in it has to be on disk before what follows it happens.
    pub(super) fn is_durable(&self) -> bool {
        self.wanted || self.appends.durable || self.chunk.durable.contains(&true)
    }

    pub(super) fn clear(&mut self) {
        self.appends.clear();
        self.chunk.clear();
        self.wanted = false;
    }
}

/// What the committing thread has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Write what was taken, which goes so far.
    Write(Reach),
    /// Make durable what was written without a sync: someone waits for it.
    Sync,
    /// Nothing has come while the patience lasted.
    Idle,
    /// The queue has ended and is empty.
    Ended,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) written: Reach,
    pub(super) fault: Option<StoreError>,
    /// Nothing more will be written.
    pub(super) ended: bool,
}

/// Why a commit was not taken. Nothing has changed then.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NotTaken {
    #[error("{waiting} commits wait to be written, no more are taken: the disk does not keep up")]
    Full { waiting: usize },
    #[error(
        "{waiting} bytes of stream items wait to be written, no more are taken: the disk does not keep up"
    )]
    NoRoom { waiting: usize },
    #[error(transparent)]
    Fault(#[from] StoreError),
    #[error("the engine was shut down")]
    Ended,
}

/// The right to enqueue one commit. Taken before a transition is decided, since what was decided must be
/// enqueued.
#[derive(Debug)]
pub(crate) struct Permit<'a, A, B> {
    committer: &'a Committer<A, B>,
}

impl<A, B> Committer<A, B> {
    /// A queue of so many commits, and so many bytes of stream items, of which a batch takes up to `batch_max` commits.
    pub(crate) fn new(taken_max: usize, append_bytes_max: usize, batch_max: usize) -> Self {
        let queue = Queue {
            commits: Chunks::new(batch_max),
            appends: WaitingAppends::new(),
            last: Ticket::default(),
            last_append: AppendTicket::default(),
            wanted: None,
            ended: false,
            gone: false,
        };
        Self {
            queue: Mutex::new(queue),
            filled: Condvar::new(),
            rooms: Rooms::new(append_bytes_max),
            taken: AtomicUsize::new(0),
            taken_max,
            has_written: AtomicBool::new(false),
            over: AtomicBool::new(false),
            written: watch::Sender::new(Progress::default()),
        }
    }

    /// Takes a place in the queue; an urgent commit gets one even in a full queue.
    pub(crate) fn permit(&self, urgent: bool) -> Result<Permit<'_, A, B>, NotTaken> {
        let waiting = self.taken.fetch_add(1, Ordering::Relaxed);
        let permit = Permit { committer: self };
        if waiting >= self.taken_max && !urgent {
            return Err(NotTaken::Full { waiting });
        }
        if self.over.load(Ordering::Acquire) {
            return Err(self.ended());
        }
        Ok(permit)
    }

    /// Whether everything up to `ticket` is on disk, waiting for it if need be. It is synced as soon as it is written,
    /// also if it need not be.
    pub(crate) async fn durable(&self, ticket: Ticket) -> Result<(), NotTaken> {
        if self.written.borrow().written.commit < ticket {
            self.want(ticket);
        }
        self.progress(|now| now.written.commit >= ticket).await
    }

    fn want(&self, ticket: Ticket) {
        let mut queue = self.lock();
        queue.wanted = queue.wanted.max(Some(ticket));
        let is_written = queue.is_empty();
        drop(queue);
        // Otherwise the thread comes by anyway.
        if is_written {
            self.filled.notify_one();
        }
    }

    /// The last commit that was enqueued.
    pub(crate) fn last(&self) -> Ticket {
        self.lock().last
    }

    pub(super) async fn progress(&self, done: impl Fn(&Progress) -> bool) -> Result<(), NotTaken> {
        let mut written = self.written.subscribe();
        let progress = written.wait_for(|now| done(now) || now.fault.is_some() || now.ended).await;
        let progress = progress.map_err(|_| NotTaken::Ended)?.clone();
        match progress.fault {
            _ if done(&progress) => Ok(()),
            Some(fault) => Err(fault.into()),
            None => Err(NotTaken::Ended),
        }
    }

    /// Why nothing is taken any more.
    pub(super) fn ended(&self) -> NotTaken {
        match &self.written.borrow().fault {
            Some(fault) => fault.clone().into(),
            None => NotTaken::Ended,
        }
    }

    /// Whether anything was written.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written.load(Ordering::Relaxed)
    }

    /// Takes no more commits; the thread ends once it has written what it has.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.over.store(true, Ordering::Release);
        self.rooms.close();
        self.filled.notify_all();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Queue<A, B>> {
        // The queue is whole at every point where a panic could happen.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to write, as long as `patience` lasts if it has an end. Takes a batch of commits, and all
    /// items of streams, of which there are never more than fit in their room.
    pub(super) fn take(&self, spare: &mut Batch<A, B>, patience: impl Fn() -> Option<Duration>) -> Turn {
        let mut queue = self.lock();
        while queue.is_empty() {
            if queue.ended {
                queue.gone = true;
                return Turn::Ended;
            }
            if queue.wanted.take().is_some() {
                return Turn::Sync;
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
        queue.take(spare);
        let commit = Ticket(queue.last.0 - queue.commits.len() as u64);
        // One that is wanted from beyond this batch is left for that which has it.
        spare.wanted = queue.wanted.take_if(|wanted| *wanted <= commit).is_some();
        Turn::Write(Reach { commit, append: queue.last_append })
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

    /// Notes how far everything is on disk.
    pub(super) fn note_written(&self, reach: Reach) {
        self.written.send_modify(|progress| progress.written = reach);
    }

    pub(super) fn note_fault(&self, fault: StoreError) {
        self.written.send_modify(|progress| progress.fault = Some(fault));
        self.end();
    }

    pub(super) fn drain(&self) -> (Vec<A>, Vec<B>) {
        let mut queue = self.lock();
        queue.gone = true;
        let after = queue.commits.drain();
        let appended = std::mem::take(&mut queue.appends.after);
        queue.appends.clear();
        (after, appended)
    }
}

impl<A, B> Permit<'_, A, B> {
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
        let was_empty = queue.is_empty();
        queue.commits.push(commit, after, durable);
        queue.last.0 += 1;
        let ticket = queue.last;
        drop(queue);
        if was_empty {
            self.committer.filled.notify_one();
        }
        // The thread counts it down once it is written.
        std::mem::forget(self);
        ticket
    }
}

impl<A, B> Drop for Permit<'_, A, B> {
    fn drop(&mut self) {
        self.committer.taken.fetch_sub(1, Ordering::Relaxed);
    }
}
