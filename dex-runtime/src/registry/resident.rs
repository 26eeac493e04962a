//! A run in memory, and its one writer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::append::Appended;
use super::calls::Calls;
use super::table::Entry;
use crate::activity::{Activity, Busy};
use crate::commit::{Committer, NotTaken, Ticket};
use crate::engine::{
    self, Broken, Command, Effect, Event, Limits, Refusal, Rejection, RunEnd, RunIdentity, RunState,
    Transition, View,
};
use crate::error::{Error, ErrorKind};
use crate::ids::{Attempt, Epoch, ExecutionNo, FlowId, RunId};
use crate::signal::Signal;
use crate::store::{Due, RunCommit, RunSummary, StoreError, record};
use crate::time::{Clock, Timestamp};

/// Bytes of records after which a snapshot is worth writing: reading them back takes about a
/// millisecond. A snapshot is never taken before the records since the last one outweigh it, so
/// snapshots at most double what is written.
const SNAPSHOT_AFTER_BYTES: usize = 64 * 1024;

/// A run in memory.
#[derive(Debug)]
pub(crate) struct Resident {
    identity: Arc<RunIdentity>,
    cell: Mutex<Cell>,
    /// Commits that are enqueued and not yet on disk. Grows under the cell's lock; the committing thread, which
    /// must not wait for whoever decides, counts down without.
    unwritten: AtomicUsize,
    calls: Calls,
}

/// Whether a run is in memory; apart from its status, which says whether it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    /// This is the run's one writer.
    Resident,
    /// The run has left memory; whoever wants it has to load it again.
    Passivated,
    /// The run's history does not fit the rules; it stands as it is until someone looks at it.
    Quarantined(Broken),
}

#[derive(Debug)]
struct Cell {
    residency: Residency,
    /// `None` until the run's start is decided.
    state: Option<RunState>,
    /// The last enqueued commit of this run.
    last: Ticket,
    /// Bytes of records since the last snapshot.
    record_bytes: usize,
    /// Size of the last snapshot.
    snapshot_bytes: usize,
}

/// What is handed on once a commit is on disk.
#[derive(Debug)]
pub(crate) struct After {
    pub(crate) run: Arc<Resident>,
    pub(crate) effects: Vec<Effect>,
    /// What the handlers to be called see of the run.
    pub(crate) view: Option<View>,
    pub(crate) timers_set: Vec<Due>,
    pub(crate) timers_cleared: Vec<Due>,
    /// Set by the commit that ended the run.
    pub(crate) end: Option<Arc<RunEnd>>,
    /// Whether the run has nothing to do after this commit, unless another one follows.
    pub(crate) rests: bool,
    /// Whether this is the run's first commit: new work, which waits behind work that goes on.
    pub(crate) first: bool,
    pub(crate) reply: Option<Reply>,
    /// The engine is busy until what follows is counted.
    pub(crate) busy: Busy,
}

/// Tells a caller what became of its commit.
pub(crate) type Reply = oneshot::Sender<Result<(), StoreError>>;

/// A handler call is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The run is being cancelled: the handler is to know.
    pub(crate) canceling: bool,
}

/// How a command is submitted.
#[derive(Debug)]
pub(crate) struct Submit {
    /// Hears when what followed is on disk.
    pub(crate) reply: Option<Reply>,
    /// Whether it is taken even if the queue is full: reports of handlers and timers are bounded by slots
    /// and must not be lost. Callers can be told.
    pub(crate) urgent: bool,
    /// Whether what followed has to be on disk before its effects happen.
    pub(crate) durable: bool,
}

impl Submit {
    /// What must not be lost, and nobody waits for.
    pub(crate) const URGENT: Self = Self { reply: None, urgent: true, durable: true };

    /// What a caller asks for.
    pub(crate) fn called(reply: Reply) -> Self {
        Self { reply: Some(reply), urgent: false, durable: true }
    }
}

/// Why a command did nothing.
#[derive(Clone, Debug)]
pub(crate) enum Refused {
    /// It does not fit the run.
    Rejected(Rejection),
    /// The run has left memory: look it up again.
    Passivated,
    /// The run was set aside.
    Quarantined(Broken),
    /// Nothing can be written now.
    NotTaken(NotTaken),
}

impl From<NotTaken> for Refused {
    fn from(reason: NotTaken) -> Self {
        Self::NotTaken(reason)
    }
}

impl Entry for Resident {
    fn flow_id(&self) -> &FlowId {
        &self.identity.flow_id
    }

    fn run_id(&self) -> RunId {
        self.identity.run_id
    }
}

impl Resident {
    /// A run that is about to be started.
    pub(crate) fn fresh(identity: RunIdentity) -> Self {
        Self::with(Arc::new(identity), None, 0, 0)
    }

    /// A run as it was stored.
    pub(crate) fn loaded(state: RunState, record_bytes: usize, snapshot_bytes: usize) -> Self {
        Self::with(Arc::clone(&state.identity), Some(state), record_bytes, snapshot_bytes)
    }

    fn with(
        identity: Arc<RunIdentity>,
        state: Option<RunState>,
        record_bytes: usize,
        snapshot_bytes: usize,
    ) -> Self {
        let cell = Cell {
            residency: Residency::Resident,
            state,
            last: Ticket::default(),
            record_bytes,
            snapshot_bytes,
        };
        Self { identity, cell: Mutex::new(cell), unwritten: AtomicUsize::new(0), calls: Calls::default() }
    }

    pub(crate) fn identity(&self) -> &Arc<RunIdentity> {
        &self.identity
    }

    fn lock(&self) -> MutexGuard<'_, Cell> {
        // A panic under this lock is a fault of the engine; `transition` sets the run aside for that, and
        // no user code runs here.
        self.cell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the run's newest state, and says which commit must be on disk before the answer is true.
    pub(crate) fn read<R>(&self, look: impl FnOnce(&RunState) -> R) -> Result<(R, Option<Ticket>), Refused> {
        let cell = self.lock();
        cell.residency.check()?;
        let state = cell.state.as_ref().ok_or(Refused::Passivated)?;
        Ok((look(state), self.unwritten(&cell)))
    }

    /// The last commit, if it is not on disk yet.
    fn unwritten(&self, cell: &Cell) -> Option<Ticket> {
        (self.unwritten.load(Ordering::Acquire) > 0).then_some(cell.last)
    }

    /// The last commit that was enqueued for the run.
    pub(crate) fn last(&self) -> Ticket {
        self.lock().last
    }

    /// Whether a call of this attempt was lost with its process although it was written down.
    pub(crate) fn was_lost(&self, attempt: Attempt) -> bool {
        let cell = self.lock();
        let running = cell.state.as_ref().and_then(|state| state.running(attempt));
        running.is_some_and(|execution| execution.handed_out.is_some())
    }

    /// Whether the handler call of this attempt is still wanted.
    pub(crate) fn wanted(&self, attempt: Attempt) -> Option<Wanted> {
        let cell = self.lock();
        let state = cell.state.as_ref().filter(|_| cell.residency == Residency::Resident)?;
        state.running(attempt).filter(|_| !state.paused)?;
        Some(Wanted { canceling: state.is_winding_down() })
    }

    /// Notes that one commit of the run is on disk. Gives whether it was the last one.
    pub(crate) fn note_written(&self) -> bool {
        self.unwritten.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Leaves memory, if the run has nothing to do. Gives whether it did.
    pub(crate) fn passivate(&self) -> bool {
        let mut cell = self.lock();
        let idle = cell.residency == Residency::Resident && self.is_idle(&cell);
        if idle {
            cell.residency = Residency::Passivated;
            cell.state = None;
        }
        idle
    }

    /// Leaves memory whatever it is doing: the engine stops, and nothing it knows is to be believed.
    pub(crate) fn forget(&self) {
        let mut cell = self.lock();
        if cell.residency == Residency::Resident {
            cell.residency = Residency::Passivated;
        }
        drop(cell);
        self.call_off(None);
    }

    /// A paused run counts as one that has nothing to do, but not while its handlers run: what they report would
    /// find nobody, and after the pause they would be called again.
    fn is_idle(&self, cell: &Cell) -> bool {
        let has_to_do = |state: &RunState| state.is_active() || (state.ready > 0 && self.calls.any());
        self.unwritten(cell).is_none() && !cell.state.as_ref().is_some_and(has_to_do)
    }

    /// Compares the state with the fold of the run's stored history. The history wins.
    ///
    /// Gives whether they agreed. A run with commits under way is left alone and counts as agreeing.
    pub(crate) fn reconcile(&self, stored: RunState) -> bool {
        let mut cell = self.lock();
        if self.unwritten(&cell).is_some() || cell.residency != Residency::Resident {
            return true;
        }
        // What was stored while the history was being read is newer than the history that was read.
        if cell.state.as_ref().is_some_and(|state| state.version > stored.version) {
            return true;
        }
        let agrees = cell.state.as_ref() == Some(&stored);
        cell.state = Some(stored);
        agrees
    }

    /// Registers a handler call; `None` if the same attempt runs already.
    pub(crate) fn begin_call(&self, attempt: Attempt) -> Option<Arc<Signal>> {
        self.calls.begin(attempt)
    }

    /// Forgets a handler call that has ended. Gives whether the run has nothing to do only now: it is paused, and
    /// stayed in memory for its handlers.
    pub(crate) fn end_call(&self, attempt: Attempt) -> bool {
        self.calls.end(attempt);
        let cell = self.lock();
        let paused = cell.state.as_ref().is_some_and(|state| state.paused);
        paused && self.is_idle(&cell)
    }

    /// Says to the handler of `execution`, or to all of them, that it is to stop.
    pub(crate) fn tell(&self, execution: Option<ExecutionNo>) {
        self.calls.tell(execution);
    }

    /// Calls off the handler of `execution`, or all of them.
    pub(crate) fn call_off(&self, execution: Option<ExecutionNo>) {
        self.calls.call_off(execution);
    }
}

impl Residency {
    fn check(&self) -> Result<(), Refused> {
        match self {
            Self::Resident => Ok(()),
            Self::Passivated => Err(Refused::Passivated),
            Self::Quarantined(broken) => Err(Refused::Quarantined(broken.clone())),
        }
    }
}

/// What turns commands into commits.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Limits,
    pub(crate) epoch: Epoch,
    pub(crate) committer: Arc<Committer<After, Appended>>,
    pub(crate) activity: Activity,
}

impl Writer {
    /// Decides `command` on the run's newest state and enqueues what follows; whoever asked hears when it is on
    /// disk. A command that changes nothing is answered when all before it is.
    ///
    /// Later commands are decided on top of it at once; the queue keeps their order.
    pub(crate) fn submit(
        &self,
        run: &Arc<Resident>,
        command: Command,
        how: Submit,
    ) -> Result<Submitted, Refused> {
        let Submit { reply, urgent, durable } = how;
        let permit = self.committer.permit(urgent)?;
        let mut cell = run.lock();
        cell.residency.check()?;
        // Under the lock, so that a run's times never go backwards by much.
        let now = self.clock.now();
        let done = match engine::transition(&mut cell.state, command, now, &self.limits) {
            Ok(done) => done,
            Err(Refusal::Rejected(rejection)) => return Err(Refused::Rejected(rejection)),
            Err(Refusal::Broken(broken)) => {
                tracing::error!(run = %run.identity.run_id, %broken, "the run is set aside");
                cell.residency = Residency::Quarantined(broken.clone());
                return Err(Refused::Quarantined(broken));
            }
        };
        if done.events.is_empty() {
            return Ok(Submitted::Nothing { unwritten: run.unwritten(&cell) });
        }
        let state = cell.state.as_ref().ok_or(Refused::Passivated)?;
        let record = record::encode_transition(now, &done.events);
        let log = cell.record_bytes + record.len();
        let snapshot =
            (log > SNAPSHOT_AFTER_BYTES.max(cell.snapshot_bytes)).then(|| record::encode_state(state));
        let commit = RunCommit {
            run: run.identity.run_id,
            sequence: state.version,
            epoch: self.epoch,
            record,
            snapshot,
            summary: summary_change(state, &done.events),
            ready: done.active,
            timers_set: done.timers_set.clone(),
            timers_cleared: done.timers_cleared.clone(),
        };
        let after = after(run, state, done, reply, self.activity.begin());
        cell.record_bytes = if commit.snapshot.is_some() { 0 } else { log };
        cell.snapshot_bytes = commit.snapshot.as_ref().map_or(cell.snapshot_bytes, bytes::Bytes::len);
        run.unwritten.fetch_add(1, Ordering::AcqRel);
        // Still under the lock: the queue's order is the order of deciding.
        cell.last = permit.enqueue(commit, after, durable);
        Ok(Submitted::Enqueued)
    }
}

impl Writer {
    /// Enqueues the end of a run whose history is not to be believed. The snapshot that goes with it stands
    /// for that history from here on.
    pub(crate) fn write_off(&self, state: &RunState, reply: Reply) -> Result<(), Error> {
        let permit = self
            .committer
            .permit(true)
            .map_err(|reason| Refused::NotTaken(reason).into_error(&state.identity))?;
        let closed: Vec<_> = state.closed.iter().collect();
        let events: Vec<_> =
            closed.iter().map(|closed| Event::RunClosed { closing: closed.closing.clone() }).collect();
        let at = closed.first().map_or(Timestamp::EPOCH, |closed| closed.at);
        let commit = RunCommit {
            run: state.identity.run_id,
            sequence: state.version,
            epoch: self.epoch,
            record: record::encode_transition(at, &events),
            snapshot: Some(record::encode_state(state)),
            summary: summary_change(state, &events),
            // Its parent may still have to hear of it.
            ready: Some(state.is_active()),
            timers_set: Vec::new(),
            timers_cleared: Vec::new(),
        };
        let run = Arc::new(Resident::loaded(state.clone(), 0, 0));
        run.unwritten.store(1, Ordering::Release);
        let after = after(&run, state, Transition::default(), Some(reply), self.activity.begin());
        permit.enqueue(commit, after, true);
        Ok(())
    }
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// A commit was enqueued.
    Enqueued,
    /// It changed nothing; the commit given must be on disk before an answer is true.
    Nothing {
        /// The last commit that is not on disk yet.
        unwritten: Option<Ticket>,
    },
}

fn summary_change(state: &RunState, events: &[Event]) -> Option<RunSummary> {
    let changes = |event: &Event| {
        let is_end = matches!(event, Event::RunStarted { .. } | Event::RunClosed { .. });
        is_end || matches!(event, Event::RunPaused | Event::RunResumed)
    };
    events.iter().any(changes).then(|| RunSummary {
        run: state.identity.run_id,
        flow_id: state.identity.flow_id.clone(),
        flow: state.identity.flow.clone(),
        status: state.status(),
        started_at: state.identity.started_at,
        closed_at: state.closed.as_ref().map(|closed| closed.at),
    })
}

fn after(run: &Arc<Resident>, state: &RunState, done: Transition, reply: Option<Reply>, busy: Busy) -> After {
    let due = |(at, execution): (Timestamp, ExecutionNo)| Due { at, run: state.identity.run_id, execution };
    let armed = done.effects.iter().filter_map(|effect| match effect {
        Effect::ArmTimer { execution, at } => Some(due((*at, *execution))),
        _ => None,
    });
    let timers_set = armed.collect();
    let dispatches = done.effects.iter().any(|effect| matches!(effect, Effect::Dispatch(_)));
    After {
        run: Arc::clone(run),
        view: dispatches.then(|| View::of(state)),
        effects: done.effects,
        // Not those that were set only: after a pause, timers that were set before are armed again.
        timers_set,
        timers_cleared: done.timers_cleared.into_iter().map(due).collect(),
        end: RunEnd::of(state).map(Arc::new),
        rests: !state.is_active(),
        first: state.version == 1,
        reply,
        busy,
    }
}

impl Refused {
    /// What a caller is told.
    pub(crate) fn into_error(self, run: &RunIdentity) -> Error {
        match self {
            Self::Rejected(rejection) => Error::rejected(&rejection, run.flow_id.as_str(), run.run_id),
            Self::Passivated => Error::new(ErrorKind::Unavailable, "the engine is being opened again"),
            Self::Quarantined(broken) => {
                let message = format!("run `{}` is set aside: {broken}; it is kept as it is", run.flow_id);
                Error::new(ErrorKind::Quarantined, message)
            }
            Self::NotTaken(NotTaken::Fault(fault)) => fault.into(),
            // Whether another opening follows is not known here.
            Self::NotTaken(NotTaken::Ended) => Error::new(ErrorKind::Unavailable, "the engine is stopping"),
            Self::NotTaken(full @ (NotTaken::Full { .. } | NotTaken::NoRoom { .. })) => {
                Error::new(ErrorKind::Unavailable, full.to_string())
            }
        }
    }
}
