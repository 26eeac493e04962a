//! Step executions: what their handlers report, and what time does to them.

use super::command::{Decision, Exhausted, FailureReport, Movement, StepReport, WaitReport};
use super::decide::{Limits, Rejection, current, write};
use super::event::{Closing, Event, FailureKind, Recovery, Source};
use super::retry;
use super::state::{Execution, Method, Phase, RunState};
use super::wait::Condition;
use crate::ids::{ExecutionNo, Slot};
use crate::time::Timestamp;

pub(super) fn start_wait(
    state: &RunState,
    report: WaitReport,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let WaitReport { attempt, condition, staged } = report;
    expect_method(current(state, attempt)?, attempt.execution, Method::WaitFor)?;
    if condition.depth() > Condition::DEPTH_MAX {
        return Err(Rejection::WaitTooDeep { max: Condition::DEPTH_MAX });
    }
    if condition.has_empty_group() {
        return Err(Rejection::EmptyWait);
    }
    if let Some((slot, min, max)) = condition.impossible_count(limits.channel_messages_max) {
        let limit = limits.channel_messages_max;
        return Err(Rejection::ImpossibleCount { slot: slot.clone(), min, max, limit });
    }
    let mut events = Vec::with_capacity(staged.len() + 1);
    write(Some(state), None, staged, limits, &mut events)?;
    events.push(Event::WaitStarted { execution: attempt.execution, condition });
    Ok(events)
}

pub(super) fn complete(
    state: &RunState,
    report: StepReport,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let StepReport { attempt, decision, staged } = report;
    let execution = current(state, attempt)?;
    expect_method(execution, attempt.execution, Method::Execute)?;
    let decision = resolve(state, execution, decision, &staged.messages);
    // Room for what most decisions add.
    let mut events = Vec::with_capacity(staged.len() + 3);
    write(Some(state), Some(execution), staged, limits, &mut events)?;
    events.push(Event::StepCompleted { execution: attempt.execution });
    let output =
        |value| Event::OutputProduced { step: execution.step.clone(), number: execution.number, value };
    match decision {
        Decision::Continue(movements) if movements.is_empty() => return Err(Rejection::NoNextStep),
        Decision::Continue(movements) => {
            let others = state.executions.len() - 1;
            schedule(state, movements, &Source::Step(attempt.execution), others, limits, &mut events)?;
        }
        Decision::Complete(value) => events.push(output(value)),
        Decision::CompleteNow(value) | Decision::CompleteIfEmpty { output: value, .. } => {
            events.extend([output(value), Event::RunClosed { closing: Closing::Completed }]);
        }
        Decision::Fail { reason } => events.push(Event::RunClosed { closing: Closing::Failed { reason } }),
        Decision::DeadEnd => {}
    }
    Ok(events)
}

/// Turns a conditional decision whose condition does not hold into the one that follows then.
fn resolve<M>(state: &RunState, execution: &Execution, decision: Decision, staged: &[(Slot, M)]) -> Decision {
    match decision {
        Decision::CompleteIfEmpty { channels, otherwise, .. }
            if channels.iter().any(|slot| !is_empty(state, execution, slot, staged)) =>
        {
            Decision::Continue(vec![otherwise])
        }
        decision => decision,
    }
}

/// Whether `slot` is empty once `execution` has completed: what it took is consumed then, what it
/// publishes is there, and what others have reserved may still come back.
fn is_empty<M>(state: &RunState, execution: &Execution, slot: &Slot, staged: &[(Slot, M)]) -> bool {
    state.held(slot) == execution.reserved(slot) && staged.iter().all(|(published, _)| published != slot)
}

/// Adds the events that start `movements`, beside `others` executions that stay open.
pub(super) fn schedule(
    state: &RunState,
    movements: Vec<Movement>,
    source: &Source,
    others: usize,
    limits: &Limits,
    events: &mut Vec<Event>,
) -> Result<(), Rejection> {
    // A run that is over the limit, since it was set lower meanwhile, may go on as long as it does not grow.
    let open = others + movements.len();
    if open > limits.executions_max && open > state.executions.len() {
        return Err(Rejection::TooManySteps { max: limits.executions_max });
    }
    for (movement, number) in movements.into_iter().zip(state.scheduled + 1..) {
        events.push(Event::StepScheduled {
            execution: ExecutionNo(number),
            step: movement.step,
            source: source.clone(),
            input: movement.input,
            waits: movement.waits,
            recovery: None,
        });
    }
    Ok(())
}

pub(super) fn fail(state: &RunState, report: FailureReport, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let FailureReport { attempt, started_at, failure, retry_after, retry, exhausted } = report;
    let running = current(state, attempt)?;
    let execution = attempt.execution;
    match failure.kind {
        FailureKind::Unworkable => return Ok(vec![Event::StepParked { execution, failure }]),
        FailureKind::Fatal => {}
        FailureKind::Error | FailureKind::Panic | FailureKind::Timeout => {
            let first_at = running.first_attempt_at.unwrap_or(started_at);
            let seed = retry::seed(&state.identity.run_id, attempt);
            let again = retry::next_attempt(&retry, running.failures + 1, first_at, now, retry_after, seed);
            if let Some(retry_at) = again {
                return Ok(vec![Event::AttemptFailed { execution, failure, started_at, retry_at }]);
            }
        }
    }
    let (step, number) = (running.step.clone(), running.number);
    Ok(match exhausted {
        Exhausted::Park => vec![Event::StepParked { execution, failure }],
        Exhausted::Fail => {
            let closing = Closing::StepFailed { step, number, failure: failure.clone() };
            vec![Event::StepFailed { execution, failure }, Event::RunClosed { closing }]
        }
        Exhausted::Recover { step: next, waits } => {
            let recovery = Recovery { step, failure: failure.clone(), attempts: running.failures + 1 };
            let scheduled = Event::StepScheduled {
                execution: ExecutionNo(state.scheduled + 1),
                step: next,
                source: Source::Recovery(execution),
                input: running.input.clone(),
                waits,
                recovery: Some(recovery),
            };
            vec![Event::StepFailed { execution, failure }, scheduled]
        }
    })
}

pub(super) fn fire_timer(
    state: &RunState,
    execution: ExecutionNo,
    now: Timestamp,
) -> Result<Vec<Event>, Rejection> {
    let due = state.executions.get(&execution).filter(|found| found.due().is_some_and(|due| due <= now));
    match due.map(|found| &found.phase) {
        Some(Phase::Backoff { .. }) => Ok(vec![Event::RetryStarted { execution }]),
        Some(Phase::Waiting { .. }) => Ok(vec![Event::TimerFired { execution, until: now }]),
        Some(Phase::Ready(_) | Phase::Parked(_)) | None => Err(Rejection::NothingDue { execution }),
    }
}

pub(super) fn resume(state: &RunState, execution: ExecutionNo) -> Result<Vec<Event>, Rejection> {
    match state.executions.get(&execution).map(|found| &found.phase) {
        Some(Phase::Parked(_)) => Ok(vec![Event::StepResumed { execution }]),
        _ => Err(Rejection::NotParked { execution }),
    }
}

fn expect_method(running: &Execution, execution: ExecutionNo, method: Method) -> Result<(), Rejection> {
    if running.phase == Phase::Ready(method) { Ok(()) } else { Err(Rejection::WrongMethod { execution }) }
}
