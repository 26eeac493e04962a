//! What a handler returned, as a command.

use crate::definition::call::{StepEnd, WaitEnd};
use crate::definition::{Choice, Registered, StepError};
use crate::engine::{
    Command, Decision, Exhausted, Failure, FailureKind, FailureReport, Movement, StepReport, WaitReport,
};
use crate::ids::Attempt;
use crate::time::Timestamp;
use crate::value::Payload;

/// The command of a step that returned a decision.
pub(super) fn complete(flow: &Registered, attempt: Attempt, end: StepEnd) -> Result<Command, StepError> {
    let decision = match end.choice {
        Choice::Continue(movements) => {
            let movements = movements.into_iter().map(|(step, input)| movement(flow, step, input));
            Decision::Continue(movements.collect::<Result<_, _>>()?)
        }
        Choice::Other(decision) => decision,
    };
    Ok(Command::CompleteStep(StepReport { attempt, decision, staged: end.staged }))
}

/// The entry into the step with this stored name.
pub(crate) fn movement(flow: &Registered, step: &str, input: Payload) -> Result<Movement, StepError> {
    let Some(found) = flow.step(step) else {
        return Err(StepError::unworkable(format_args!("flow `{}` has no step `{step}`", flow.name)));
    };
    Ok(Movement { step: found.name.clone(), input, waits: found.definition.wait.is_some() })
}

/// The command of a `wait_for` that returned a condition.
pub(super) fn wait(attempt: Attempt, end: WaitEnd, now: Timestamp) -> Command {
    Command::StartWait(WaitReport { attempt, condition: end.part.lower(now), staged: end.staged })
}

/// An attempt that failed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) attempt: Attempt,
    pub(super) started_at: Timestamp,
    pub(super) error: StepError,
}

/// The command of a failed attempt of `step`.
pub(super) fn fail(flow: &Registered, step: &str, failed: Failed) -> Command {
    let Failed { attempt, started_at, error } = failed;
    let (failure, retry_after) = error.into_parts();
    let definition = flow.step(step).map(|found| found.definition);
    let recovery = definition.and_then(|step| step.on_failure).and_then(|recovery| flow.step(recovery));
    let exhausted = match recovery {
        Some(recovery) => {
            Exhausted::Recover { step: recovery.name.clone(), waits: recovery.definition.wait.is_some() }
        }
        None => Exhausted::Fail,
    };
    let retry = definition.map(|step| step.retry).unwrap_or_default();
    Command::FailAttempt(FailureReport { attempt, started_at, failure, retry_after, retry, exhausted })
}

/// The error of an attempt whose time was up.
pub(super) fn timed_out(after: std::time::Duration) -> StepError {
    StepError::from_failure(Failure {
        kind: FailureKind::Timeout,
        type_name: String::new(),
        message: format!("timeout: the attempt took longer than {after:?}"),
        chain: Vec::new(),
        place: None,
    })
}
