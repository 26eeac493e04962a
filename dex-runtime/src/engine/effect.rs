//! What the shell has to do after a commit.

use std::sync::Arc;

use smallvec::SmallVec;

use super::event::{Event, Recovery, Source};
use super::patch::StepPatch;
use super::state::{Execution, Method, Phase, RunState, Status, StepId};
use crate::ids::{Attempt, ExecutionNo, Name};
use crate::time::Timestamp;
use crate::value::Payload;

/// Work for the shell. It is a cache of the state: [`outstanding`] makes it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Call a handler.
    Dispatch(Box<Task>),
    /// Send [`FireTimer`](super::Command::FireTimer) once this instant has come.
    ArmTimer {
        /// For which execution.
        execution: ExecutionNo,
        /// When.
        at: Timestamp,
    },
    /// Tell the handler of an execution that the run is being cancelled, if one runs.
    Tell {
        /// The execution.
        execution: ExecutionNo,
    },
    /// Call off the handler of an execution that has ended otherwise, if one runs.
    Revoke {
        /// The execution.
        execution: ExecutionNo,
    },
    /// Do what the run wants of other runs: what it is, [`RunState::errands`] says.
    RunErrands,
    /// Call off all handlers of the run and tell those who wait for its end.
    Close {
        /// How it ended.
        status: Status,
    },
}

/// One handler call to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What the report has to name.
    pub attempt: Attempt,
    /// The step.
    pub step: Name,
    /// Its execution's number among those of the step.
    pub number: u32,
    /// Which of its methods.
    pub method: Method,
    /// What scheduled the execution.
    pub source: Source,
    /// What people call the execution that `source` names.
    pub source_id: Option<StepId>,
    /// The step's input.
    pub input: Payload,
    /// What the step's wait gave, for a step that waited.
    pub outcome: Option<Payload>,
    /// Failed attempts of this method so far.
    pub failures: u32,
    /// When the first of them started.
    pub first_attempt_at: Option<Timestamp>,
    /// What the step recovers from, if it is a recovery.
    pub recovery: Option<Recovery>,
    /// What the movement changes about the step's options.
    pub patch: Option<Arc<StepPatch>>,
    /// How far an earlier attempt said it had come.
    pub checkpoint: Option<Payload>,
    /// Whether the run is being cancelled, and the handler is to know it from the start.
    pub canceling: bool,
}

impl Task {
    fn of(run: &RunState, no: ExecutionNo, execution: &Execution, method: Method) -> Self {
        Self {
            attempt: Attempt { execution: no, number: execution.attempt },
            step: execution.step.clone(),
            number: execution.number,
            method,
            source: execution.source.clone(),
            source_id: execution.source_id.clone(),
            input: execution.input.clone(),
            outcome: execution.outcome_value(),
            failures: execution.failures,
            first_attempt_at: execution.first_attempt_at,
            recovery: execution.recovery.clone(),
            patch: execution.patch.clone(),
            checkpoint: execution.checkpoint.clone(),
            canceling: run.is_winding_down(),
        }
    }
}

/// Everything that has to be done for the run as it is.
pub fn outstanding(state: &RunState) -> Vec<Effect> {
    let of_run = state.due().map(|at| Effect::ArmTimer { execution: ExecutionNo(0), at });
    let of_executions = state.executions.iter().filter_map(|(no, of)| of_execution(state, *no, of));
    let errands = state.has_errands().then_some(Effect::RunErrands);
    errands.into_iter().chain(of_run).chain(of_executions).collect()
}

fn of_execution(run: &RunState, no: ExecutionNo, execution: &Execution) -> Option<Effect> {
    match execution.phase {
        Phase::Ready(_) if run.paused => None,
        Phase::Ready(method) => Some(Effect::Dispatch(Box::new(Task::of(run, no, execution, method)))),
        Phase::Waiting { .. } | Phase::Backoff { .. } => {
            Some(Effect::ArmTimer { execution: no, at: execution.due()? })
        }
        Phase::Blocked | Phase::Parked(_) => None,
    }
}

/// What has to be done because of `events`, given the state after all of them; who was scheduled first comes first.
pub(super) fn effects(events: &[Event], after: &RunState) -> Vec<Effect> {
    let errands = || (errands_arise(events) && after.has_errands()).then_some(Effect::RunErrands);
    if let Some(closed) = &after.closed {
        let closes = events.iter().any(|event| matches!(event, Event::RunClosed { .. }));
        let close = closes.then(|| Effect::Close { status: closed.closing.status() });
        return close.into_iter().chain(errands()).collect();
    }
    let mut effects = Vec::from_iter(errands());
    // Most transitions are about one execution that ends and one that begins.
    let mut touched = SmallVec::<[ExecutionNo; 4]>::new();
    let mut resumed = false;
    for event in events {
        match event {
            Event::StepCanceled { execution } => effects.push(Effect::Revoke { execution: *execution }),
            Event::RunResumed => resumed = true,
            Event::CancelRequested { .. } => effects.extend(told(after)),
            // The handler runs already, or is about to.
            Event::CheckpointStored { .. } | Event::HandedOut { .. } => continue,
            _ => {}
        }
        touched.extend(event.execution());
    }
    if resumed {
        // What was held back is done now.
        effects.extend(outstanding(after));
        return effects;
    }
    effects.extend(run_timer(events, after));
    // Several events may be about one execution, which has one place where it stands now.
    touched.sort_unstable();
    touched.dedup();
    let standing = touched.into_iter().filter_map(|no| Some((no, after.executions.get(&no)?)));
    effects.extend(standing.filter_map(|(no, execution)| of_execution(after, no, execution)));
    effects
}

/// Whether `events` may be the reason that something is wanted of other runs.
fn errands_arise(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::ChildRequested { .. } | Event::RunClosed { .. }))
}

/// Word to the handlers that run.
fn told(run: &RunState) -> impl Iterator<Item = Effect> {
    let running = run.executions.iter().filter(|(_, of)| matches!(of.phase, Phase::Ready(_)));
    running.map(|(no, _)| Effect::Tell { execution: *no })
}

/// The run's own timer, if one of `events` may have set it.
fn run_timer(events: &[Event], after: &RunState) -> Option<Effect> {
    let sets = |event: &Event| {
        let first = matches!(event, Event::RunStarted { .. } | Event::CancelRequested { .. });
        first || matches!(event, Event::TimeoutReached | Event::GraceEnded)
    };
    let at = after.due().filter(|_| events.iter().any(sets))?;
    Some(Effect::ArmTimer { execution: ExecutionNo(0), at })
}
