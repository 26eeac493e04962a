//! A run in memory, and its one writer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::calls::Calls;
use super::table::Entry;
use super::writer::Refused;
use crate::activity::Busy;
use crate::commit::Ticket;
use crate::engine::{Broken, Effect, RunEnd, RunIdentity, RunState, View};
use crate::ids::{Attempt, ExecutionNo, FlowId, RunId};
use crate::signal::Signal;
use crate::store::{Due, StoreError};

/// A run in memory.
#[derive(Debug)]
pub(crate) struct Resident {
    identity: Arc<RunIdentity>,
    cell: Mutex<Cell>,
    /// Commits that are enqueued and not yet on disk. Grows under the cell's lock; the committing thread, which
    /// must not wait for whoever decides, counts down without.
    pub(super) unwritten: AtomicUsize,
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
pub(super) struct Cell {
    pub(super) residency: Residency,
    /// `None` until the run's start is decided.
    pub(super) state: Option<RunState>,
    /// The last enqueued commit of this run.
    pub(super) last: Ticket,
    /// Bytes of records since the last snapshot.
    pub(super) record_bytes: usize,
    /// Size of the last snapshot.
    pub(super) snapshot_bytes: usize,
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

    pub(super) fn lock(&self) -> MutexGuard<'_, Cell> {
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
    pub(super) fn unwritten(&self, cell: &Cell) -> Option<Ticket> {
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
    pub(super) fn check(&self) -> Result<(), Refused> {
        match self {
            Self::Resident => Ok(()),
            Self::Passivated => Err(Refused::Passivated),
            Self::Quarantined(broken) => Err(Refused::Quarantined(broken.clone())),
        }
    }
}
