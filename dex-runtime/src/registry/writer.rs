//! Commands that become commits of a run in memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::append::Appended;
use super::resident::{After, Reply, Residency, Resident};
use crate::activity::{Activity, Busy};
use crate::commit::{Committer, NotTaken, Ticket};
use crate::engine::{
    self, Broken, Command, Effect, Event, Limits, Refusal, Rejection, RunEnd, RunIdentity, RunState,
    Transition, View,
};
use crate::error::{Error, ErrorKind};
use crate::ids::{Epoch, ExecutionNo};
use crate::store::{Due, RunCommit, RunSummary, record};
use crate::time::{Clock, Timestamp};

/// Bytes of records after which a snapshot is worth writing: reading them back takes about a
/// millisecond. A snapshot is never taken before the records since the last one outweigh it, so
/// snapshots at most double what is written.
const SNAPSHOT_AFTER_BYTES: usize = 64 * 1024;

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
                tracing::error!(run = %run.identity().run_id, %broken, "the run is set aside");
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
            run: run.identity().run_id,
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
        // Whoever is told how a run has ended must not be told otherwise after a loss of power.
        let durable = durable || after.end.is_some();
        // Still under the lock: the queue's order is the order of deciding.
        cell.last = permit.enqueue(commit, after, durable);
        Ok(Submitted::Enqueued)
    }

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
