//! What a handler returned, as a command.

use std::time::Duration;

use crate::definition::call::{Returned, StepEnd, WaitEnd};
use crate::definition::{Cancel, Choice, Effective, End, Flows, Goal, OnExhausted, Registered, StepError};
use crate::engine::{
    CancelSteps, ChildRequest, Command, Decision, Exhausted, Failure, FailureKind, FailureReport, Movement,
    StepReport, StepTarget, WaitReport,
};
use crate::ids::{Attempt, Name};
use crate::time::Timestamp;

/// The command of a step that returned a decision.
pub(super) fn complete(flow: &Registered, attempt: Attempt, end: StepEnd) -> Result<Command, StepError> {
    let Returned { choice, cancels: named, staged } = *end.0;
    let decision = match choice {
        Choice::Continue(goals) => {
            let movements = goals.into_iter().map(|goal| movement(flow, goal));
            Decision::Continue(movements.collect::<Result<_, _>>()?)
        }
        Choice::IfEmpty { channels, output, otherwise } => {
            let otherwise = movement(flow, otherwise)?;
            Decision::CompleteIfEmpty { channels, output, otherwise }
        }
        Choice::Other(decision) => decision,
    };
    let cancels = cancels(flow, named)?;
    Ok(Command::CompleteStep(StepReport { attempt, decision, cancels, staged }))
}

/// The entry into a step.
pub(crate) fn movement(flow: &Registered, goal: Goal) -> Result<Movement, StepError> {
    let Goal { step, input, options } = goal;
    let found = flow.step(step).ok_or_else(|| unknown(flow, step))?;
    let patch = match options {
        None => None,
        Some(given) => given.patch(found.definition).map_err(|wrong| {
            StepError::unworkable(format_args!("the options given for step `{step}`: {wrong}"))
        })?,
    };
    let StepTarget { step, waits, locks } = found.target();
    Ok(Movement { step, input, waits, locks, patch })
}

/// The executions that a handler ends.
pub(crate) fn cancels(flow: &Registered, cancels: Vec<Cancel>) -> Result<Vec<CancelSteps>, StepError> {
    let mut all = Vec::with_capacity(cancels.len());
    for Cancel { step, siblings } in cancels {
        let found = flow.step(step).ok_or_else(|| unknown(flow, step))?;
        all.push(CancelSteps { step: found.name.clone(), siblings });
        // Executions that were scheduled before the step got its name.
        for alias in found.definition.aliases {
            let step = Name::new(alias).map_err(StepError::unworkable)?;
            all.push(CancelSteps { step, siblings });
        }
    }
    Ok(all)
}

fn unknown(flow: &Registered, step: &str) -> StepError {
    StepError::unworkable(format_args!("flow `{}` has no step `{step}`", flow.name))
}

/// The command of a `wait_for` that returned a condition.
pub(super) fn wait(
    flows: &Flows,
    attempt: Attempt,
    end: WaitEnd,
    now: Timestamp,
) -> Result<Command, StepError> {
    let mut children = Vec::new();
    let condition = end.part.lower(now, &mut children);
    // Here, where someone can be told: a child that nobody can run would be waited for in vain.
    let unknown = children.iter().find(|child| flows.get(&child.flow).is_none());
    if let Some(ChildRequest { flow, .. }) = unknown {
        return Err(StepError::unworkable(format_args!(
            "sub-flow `{flow}` is not registered: add `.flow(..)` with its value at `open`"
        )));
    }
    Ok(Command::StartWait(WaitReport { attempt, condition, children, staged: end.staged }))
}

/// An attempt that failed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) attempt: Attempt,
    pub(super) started_at: Timestamp,
    pub(super) error: StepError,
}

/// The command of a failed attempt of a step with these options.
pub(super) fn fail(flow: &Registered, options: &Effective<'_>, failed: Failed) -> Command {
    let Failed { attempt, started_at, error } = failed;
    let (failure, retry_after) = error.into_parts();
    let exhausted = match options.end {
        // A movement may name a recovery that this build has no more; then somebody has to look at it.
        End::Recover(recovery) => flow.target(recovery).map_or(Exhausted::Park, Exhausted::Recover),
        End::Of(OnExhausted::Park) => Exhausted::Park,
        End::Of(OnExhausted::Proceed) => Exhausted::Proceed,
        End::Of(OnExhausted::Fail) => Exhausted::Fail,
    };
    let retry = options.retry;
    Command::FailAttempt(FailureReport { attempt, started_at, failure, retry_after, retry, exhausted })
}

/// The error of an attempt whose time was up.
pub(super) fn timed_out(after: Duration) -> StepError {
    told(FailureKind::Timeout, format!("timeout: the attempt took longer than {after:?}"))
}

/// The error of an attempt that gave no sign of life.
pub(super) fn silent(heartbeat: Duration) -> StepError {
    let message = format!("heartbeat timeout: the attempt gave no sign of life for {heartbeat:?}");
    told(FailureKind::HeartbeatTimeout, message)
}

fn told(kind: FailureKind, message: String) -> StepError {
    StepError::from_failure(Failure {
        kind,
        type_name: String::new(),
        message,
        chain: Vec::new(),
        place: None,
    })
}
