//! One opening of a store, and everything in memory that belongs to it.
//!
//! A shard joins the parts that do not know one another: the registry of resident runs, the committing
//! thread, the queue of handler calls, timers and waiters. All of it is a cache; when a commit fails the
//! whole shard is dropped, the store is opened again and a new shard is made from it. It knows nothing of
//! typed flows beyond calling them by name, and nothing of callers' handles.

mod lookup;
mod reads;
mod recovery;
mod sink;
mod streams;
mod time;
mod write_off;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;

pub(crate) use self::lookup::Found;
use self::lookup::Stripes;
use self::reads::Reads;
use self::sink::ShardSink;
pub(crate) use self::streams::{AttemptOutlet, check_size};
use crate::activity::{Activity, Busy};
use crate::commit::{self, Committer};
use crate::definition::Flows;
use crate::dispatch::{Begin, ErrandQueue, Errands, Job, ReadyQueue, Timers, Waiters, Watchers};
use crate::error::{Error, ErrorKind};
use crate::ids::RunIds;
use crate::options::Options;
use crate::registry::{Registry, Resident, Writer};
use crate::store::{Store, StoreError};
use crate::time::{Clock, Timestamp, first_of};
use crate::{errand, worker};

/// One opening of a store.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) flows: Arc<Flows>,
    pub(crate) options: Options,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) registry: Registry<Resident>,
    pub(crate) writer: Writer,
    pub(crate) queue: ReadyQueue,
    pub(crate) errands: ErrandQueue,
    pub(crate) timers: Timers,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) watchers: Arc<Watchers>,
    /// Those who read streams: told of new items, and of the end of a run.
    pub(crate) readers: Arc<Watchers>,
    pub(crate) activity: Activity,
    /// Whether the opening before this one ended with its process: what it had under way was lost.
    after_crash: bool,
    /// Held while a handler runs that may be what killed the process.
    suspect: tokio::sync::Mutex<()>,
    pub(crate) run_ids: RunIds,
    idle: sink::IdleRuns,
    stripes: Stripes,
    lookups: Arc<Reads>,
    reads: Arc<Reads>,
    handle: Handle,
    state: watch::Sender<Phase>,
    accepting: AtomicBool,
    committing: Mutex<Option<JoinHandle<()>>>,
    /// From a fault until the store was opened again there is something under way.
    failing: Mutex<Option<Busy>>,
}

/// Whether a shard works.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// It works.
    Running,
    /// A commit failed; the store has to be opened again.
    Failed(StoreError),
    /// It was ended for another opening of the store, which comes next.
    Replaced,
    /// It was stopped on purpose.
    Stopped,
}

/// What a shard is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) flows: Arc<Flows>,
    pub(crate) options: Options,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) activity: Activity,
    pub(crate) after_commit: AfterCommit,
    /// Whether the opening before this one ended with its process.
    pub(crate) after_crash: bool,
}

/// What a shard does after a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterCommit {
    /// What has to be done.
    Release,
    /// It tells the caller and ends as a crash would: for tests of what an opening has to make again.
    Crash,
}

impl Shard {
    /// Makes a shard and begins what the store says is to be done. To be called on a tokio runtime.
    pub(crate) fn start(parts: Parts) -> Result<Arc<Self>, Error> {
        let Parts { store, flows, options, clock, activity, after_commit, after_crash } = parts;
        let batch_max = match after_commit {
            AfterCommit::Release => options.commit_transitions_max,
            AfterCommit::Crash => 1,
        };
        let committer =
            Arc::new(Committer::new(options.commit_queue_max, options.stream_queue_bytes_max, batch_max));
        let writer = Writer {
            clock: Arc::clone(&clock),
            limits: options.limits,
            epoch: store.epoch(),
            committer: Arc::clone(&committer),
            activity: activity.clone(),
        };
        let shard = Arc::new(Self {
            registry: Registry::new(),
            writer,
            queue: ReadyQueue::new(options.worker_slots),
            errands: ErrandQueue::default(),
            timers: Timers::new(options.timers_max),
            waiters: Arc::default(),
            watchers: Arc::default(),
            readers: Arc::default(),
            run_ids: RunIds::default(),
            idle: sink::IdleRuns::new(options.idle_runs_max),
            stripes: Stripes::new(),
            lookups: Arc::new(Reads::short()),
            reads: Arc::new(Reads::long()),
            handle: Handle::current(),
            state: watch::Sender::new(Phase::Running),
            accepting: AtomicBool::new(true),
            committing: Mutex::new(None),
            failing: Mutex::new(None),
            store: Arc::clone(&store),
            flows,
            options,
            clock,
            activity,
            after_crash,
            suspect: tokio::sync::Mutex::default(),
        });
        let sink = ShardSink::new(&shard, after_commit);
        let thread = commit::spawn(committer, store, sink, commit::SYNC_AFTER)
            .map_err(|e| StoreError::io("start the committing thread", e))?;
        *shard.lock_committing() = Some(thread);
        let recovering = shard.activity.begin();
        shard.handle.spawn(recovery::recover(Arc::clone(&shard), recovering));
        shard.handle.spawn(time::keep_time(Arc::clone(&shard)));
        Ok(shard)
    }

    fn lock_committing(&self) -> std::sync::MutexGuard<'_, Option<JoinHandle<()>>> {
        self.committing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds handler calls and has as many slots at work as they need.
    pub(crate) fn dispatch(self: &Arc<Self>, jobs: impl IntoIterator<Item = Job>) {
        let mut begins = self.queue.push(jobs);
        if begins.len() > 1 {
            // Begun by one task: the runtime is entered, and woken, once for all of them.
            let shard = Arc::downgrade(self);
            self.handle.spawn(async move {
                for first in begins.into_iter().filter_map(Begin::wake) {
                    tokio::spawn(worker::slot(Weak::clone(&shard), first));
                }
            });
        } else if let Some(first) = begins.pop().and_then(Begin::wake) {
            self.handle.spawn(worker::slot(Arc::downgrade(self), first));
        }
    }

    /// Notes runs that want something of others, and starts as many slots as they need.
    fn note_errands(self: &Arc<Self>, runs: impl IntoIterator<Item = Arc<Resident>>) {
        let errands = runs.into_iter().map(|run| Errands { run, _busy: self.activity.begin() });
        for _ in 0..self.errands.push(errands) {
            self.handle.spawn(errand::slot(Arc::clone(self)));
        }
    }

    /// Waits until no other suspect runs; not longer than a handler mostly takes, or one that takes hours would
    /// keep all others from going on.
    pub(crate) async fn suspect_alone(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let mut alone = None;
        let until = self.clock.now().saturating_add(PATIENCE);
        first_of(async { alone = Some(self.suspect.lock().await) }, self.clock.sleep_until(until)).await;
        alone
    }

    /// Completes when the shard does not work any more, with the reason.
    pub(crate) async fn ended(&self) -> Phase {
        let mut state = self.state.subscribe();
        let ended = state.wait_for(|phase| !matches!(phase, Phase::Running)).await;
        ended.map_or(Phase::Stopped, |phase| phase.clone())
    }

    /// Whether the shard has ended and another one takes its place.
    pub(crate) fn has_successor(&self) -> bool {
        matches!(&*self.state.borrow(), Phase::Failed(_) | Phase::Replaced)
    }

    /// Whether anything was written since this opening.
    pub(crate) fn has_written(&self) -> bool {
        self.writer.committer.has_written()
    }

    /// Why the shard does not work, if it does not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &*self.state.borrow() {
            Phase::Running => {}
            Phase::Failed(fault) => return Err(fault.clone().into()),
            Phase::Replaced => {
                return Err(Error::new(ErrorKind::Unavailable, "the engine is being opened again"));
            }
            Phase::Stopped => return Err(Error::new(ErrorKind::ShutDown, "the engine was shut down")),
        }
        if self.accepting.load(Ordering::Acquire) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::ShutDown, "the engine is shutting down and takes no more calls"))
        }
    }

    /// Ends the shard with what has failed. Everything in memory is forgotten.
    fn fail(&self, fault: &StoreError) {
        let first = self.state.send_if_modified(|phase| {
            let running = matches!(phase, Phase::Running);
            if running {
                // Before anyone can see the fault, or it could be taken before it is there.
                *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.activity.begin());
                *phase = Phase::Failed(fault.clone());
            }
            running
        });
        if first {
            self.forget_all();
        }
    }

    /// What keeps the engine busy since the fault that ended this shard; for whoever opens the next one.
    pub(crate) fn take_failing(&self) -> Option<Busy> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn forget_all(&self) {
        self.queue.stop();
        self.errands.stop();
        match self.registry.clear() {
            Ok(runs) => runs.iter().for_each(|run| run.forget()),
            Err(poisoned) => tracing::error!(%poisoned, "stopping all the same"),
        }
        self.waiters.stop();
        self.watchers.stop();
        self.readers.stop();
    }

    /// Stops at once, as a crash would: nothing that runs is waited for. Another opening comes next, unless
    /// `phase` says otherwise.
    pub(crate) async fn kill(&self, phase: Phase) {
        self.state.send_if_modified(|now| {
            let running = matches!(now, Phase::Running);
            if running {
                *now = phase;
            }
            running
        });
        self.forget_all();
        self.writer.committer.end();
        self.join_committer().await;
        // What is at work may hold the shard for a while yet; the data has to be free for the next opening.
        if let Err(error) = self.close_store().await {
            tracing::warn!(%error, "the store was not closed properly");
        }
    }

    /// Takes no more calls, lets running handlers end until `by`, then calls them off, and leaves.
    ///
    /// Gives how many handler calls were left behind; the next opening makes them again.
    pub(crate) async fn stop(&self, by: watch::Receiver<Timestamp>) -> usize {
        self.accepting.store(false, Ordering::Release);
        self.queue.stop();
        // Whoever listens can end in an orderly way.
        match self.registry.list() {
            Ok(runs) => runs.iter().for_each(|run| run.tell(None)),
            Err(poisoned) => tracing::error!(%poisoned, "handlers are not told that the engine stops"),
        }
        let left = self.handlers_end(by).await;
        self.state.send_replace(Phase::Stopped);
        self.forget_all();
        self.writer.committer.end();
        self.join_committer().await;
        left
    }

    /// Waits for running handlers until `by`, which may become earlier. Gives how many still run.
    async fn handlers_end(&self, mut by: watch::Receiver<Timestamp>) -> usize {
        loop {
            let deadline = *by.borrow_and_update();
            let running = self.queue.running();
            if running == 0 || self.clock.now() >= deadline {
                return running;
            }
            let ended = first_of(self.queue.empty(), self.clock.sleep_until(deadline));
            // Whoever stops the shard keeps the sender.
            first_of(ended, async { drop(by.changed().await) }).await;
        }
    }

    /// Ends the use of the store. What was durable stays so without it.
    pub(crate) async fn close_store(&self) -> Result<(), Error> {
        self.ask(Store::close).await
    }

    async fn join_committer(&self) {
        let thread = self.lock_committing().take();
        if let Some(thread) = thread {
            // A panic of the thread has already stopped the engine; there is nobody else to tell.
            let _ = self.handle.spawn_blocking(move || thread.join()).await;
        }
    }
}

impl Drop for Shard {
    /// Lets the committing thread end, and with it the use of the store, when the runtime that ran the
    /// shard is gone.
    fn drop(&mut self) {
        self.writer.committer.end();
    }
}
