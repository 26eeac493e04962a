//! Step executions: what their handlers report, and what time does to them.

use super::children;
use super::close;
use super::command::{
    CancelSteps, Decision, Exhausted, FailureReport, Movement, Staged, StepReport, WaitReport,
};
use super::decide::{Limits, Rejection, current, taken_out, write};
use super::event::{Closing, Event, Failure, FailureKind, Recovery, Source};
use super::retry;
use super::state::{Execution, Method, Phase, RunState};
use super::wait::Condition;
use crate::ids::{Attempt, Epoch, ExecutionNo, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

pub(super) fn start_wait(
    state: &RunState,
    report: WaitReport,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let WaitReport { attempt, condition, children, staged } = report;
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
    let execution = attempt.execution;
    let children = children::request(state, execution, &condition, children, limits)?;
    let mut events = Vec::with_capacity(staged.len() + children.len() + 1);
    write(Some(state), (Some(execution), None), staged, limits, &mut events)?;
    // Of a run that is to end, nothing that waits goes on.
    if state.is_winding_down() {
        events.push(Event::StepCanceled { execution });
        return Ok(events);
    }
    events.extend(children);
    events.push(Event::WaitStarted { execution, condition });
    Ok(events)
}

pub(super) fn complete(
    state: &RunState,
    report: StepReport,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let StepReport { attempt, decision, cancels, staged } = report;
    let execution = current(state, attempt)?;
    expect_method(execution, attempt.execution, Method::Execute)?;
    let decision = wind_down(state, resolve(state, execution, decision, &staged));
    // Room for what most decisions add.
    let mut events = Vec::with_capacity(staged.len() + 3);
    write(Some(state), (Some(attempt.execution), Some(execution)), staged, limits, &mut events)?;
    events.push(Event::StepCompleted { execution: attempt.execution });
    let ended = cancel(state, &cancels, Some(attempt.execution), &mut events);
    let output =
        |value| Event::OutputProduced { step: execution.step.clone(), number: execution.number, value };
    match decision {
        Decision::Continue(movements) if movements.is_empty() => return Err(Rejection::NoNextStep),
        Decision::Continue(movements) => {
            let others = state.executions.len() - 1 - ended;
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

/// What a decision comes to while the run is being cancelled: running handlers may end their work, but
/// nothing new follows from it, and the run is Canceled whatever they say. The clean-up may go on.
fn wind_down(state: &RunState, decision: Decision) -> Decision {
    match (&state.canceling, decision) {
        (None, decision) => decision,
        (Some(canceling), Decision::Continue(movements)) if canceling.cleaning => {
            Decision::Continue(movements)
        }
        (Some(_), _) => Decision::DeadEnd,
    }
}

/// Adds the ends of the executions that `cancels` names, but not of `by`. Gives how many they are.
pub(super) fn cancel(
    state: &RunState,
    cancels: &[CancelSteps],
    by: Option<ExecutionNo>,
    events: &mut Vec<Event>,
) -> usize {
    if cancels.is_empty() {
        return 0;
    }
    let source = by.and_then(|by| state.executions.get(&by)).map(|by| &by.source);
    let named = |execution: &Execution| {
        cancels.iter().any(|cancel| {
            cancel.step == execution.step && (!cancel.siblings || Some(&execution.source) == source)
        })
    };
    let before = events.len();
    let open = state.executions.iter().filter(|(no, execution)| Some(**no) != by && named(execution));
    events.extend(open.map(|(no, _)| Event::StepCanceled { execution: *no }));
    events.len() - before
}

/// Turns a conditional decision whose condition does not hold into the one that follows then.
fn resolve(state: &RunState, execution: &Execution, decision: Decision, staged: &Staged) -> Decision {
    match decision {
        Decision::CompleteIfEmpty { channels, otherwise, .. }
            if channels.iter().any(|slot| !is_empty(state, execution, slot, staged)) =>
        {
            Decision::Continue(vec![otherwise])
        }
        decision => decision,
    }
}

/// Whether `slot` is empty once `execution` has completed: what it took is consumed then, what it deletes is gone,
/// what it publishes is there, and what others have reserved may still come back.
fn is_empty(state: &RunState, execution: &Execution, slot: &Slot, staged: &Staged) -> bool {
    let gone = execution.reserved(slot) + taken_out(state, staged, slot);
    state.held(slot) == gone && staged.messages.iter().all(|(published, _)| published != slot)
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
    if state.is_winding_down() && !movements.is_empty() {
        return Err(Rejection::Canceling);
    }
    // A run that is over the limit, since it was set lower meanwhile, may go on as long as it does not grow.
    let open = others + movements.len();
    if open > limits.executions_max && open > state.executions.len() {
        return Err(Rejection::TooManySteps { size: open, max: limits.executions_max });
    }
    for (movement, number) in movements.into_iter().zip(state.scheduled + 1..) {
        events.push(Event::StepScheduled {
            execution: ExecutionNo(number),
            step: movement.step,
            source: source.clone(),
            input: movement.input,
            waits: movement.waits,
            recovery: None,
            locks: movement.locks,
            patch: movement.patch,
        });
    }
    Ok(())
}

pub(super) fn fail(state: &RunState, report: FailureReport, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let FailureReport { attempt, started_at, failure, retry_after, retry, exhausted } = report;
    let running = current(state, attempt)?;
    let execution = attempt.execution;
    if state.is_winding_down() {
        return Ok(vec![Event::StepFailed { execution, failure }]);
    }
    match failure.kind {
        FailureKind::Unworkable => return Ok(vec![Event::StepParked { execution, failure }]),
        FailureKind::Fatal => {}
        FailureKind::Error
        | FailureKind::Panic
        | FailureKind::Timeout
        | FailureKind::HeartbeatTimeout
        | FailureKind::Crash => {
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
        Exhausted::Proceed => vec![Event::StepFailed { execution, failure }],
        // A clean-up that fails does not change how the run ends.
        Exhausted::Fail if state.canceling.is_some() => vec![Event::StepFailed { execution, failure }],
        Exhausted::Fail => {
            let closing = Closing::StepFailed { step, number, failure: failure.clone() };
            vec![Event::StepFailed { execution, failure }, Event::RunClosed { closing }]
        }
        Exhausted::Recover(target) => {
            let recovery = Recovery {
                step,
                failure: failure.clone(),
                attempts: running.failures + 1,
                may_have_run: running.phase == Phase::Ready(Method::Execute),
            };
            let scheduled = Event::StepScheduled {
                execution: ExecutionNo(state.scheduled + 1),
                step: target.step,
                source: Source::Recovery(execution),
                input: running.input.clone(),
                waits: target.waits,
                recovery: Some(recovery),
                locks: target.locks,
                // What was said of the step that failed is not said of this one.
                patch: None,
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
    if state.paused {
        return Err(Rejection::Paused);
    }
    if execution == ExecutionNo(0) {
        return close::fire(state, now);
    }
    let due = state.executions.get(&execution).filter(|found| found.due().is_some_and(|due| due <= now));
    match due.map(|found| &found.phase) {
        Some(Phase::Backoff { .. }) => Ok(vec![Event::RetryStarted { execution }]),
        Some(Phase::Waiting { .. }) => Ok(vec![Event::TimerFired { execution, until: now }]),
        Some(Phase::Ready(_) | Phase::Blocked | Phase::Parked(_)) | None => {
            Err(Rejection::NothingDue { execution })
        }
    }
}

pub(super) fn checkpoint(
    state: &RunState,
    attempt: Attempt,
    value: Payload,
) -> Result<Vec<Event>, Rejection> {
    let running = current(state, attempt)?;
    if running.checkpoint.as_ref() == Some(&value) {
        return Ok(Vec::new());
    }
    Ok(vec![Event::CheckpointStored { execution: attempt.execution, value }])
}

/// Writes down that a handler is about to be called whose last call was lost with its process; after too
/// many lost ones in a row it is parked, since it may be what kills the process.
pub(super) fn hand_out(
    state: &RunState,
    attempt: Attempt,
    opening: Epoch,
    lost_max: u32,
) -> Result<Vec<Event>, Rejection> {
    let running = current(state, attempt)?;
    let lost = match running.handed_out {
        Some(before) if before.opening == opening => return Ok(Vec::new()),
        Some(before) => before.lost + 1,
        None => 1,
    };
    let execution = attempt.execution;
    if lost < lost_max {
        return Ok(vec![Event::HandedOut { execution, opening, lost }]);
    }
    let failure = Failure {
        kind: FailureKind::Crash,
        type_name: String::new(),
        message: format!("the process died {lost} times in a row while the step ran"),
        chain: Vec::new(),
        place: None,
    };
    Ok(vec![Event::StepParked { execution, failure }])
}

fn expect_method(running: &Execution, execution: ExecutionNo, method: Method) -> Result<(), Rejection> {
    if running.phase == Phase::Ready(method) { Ok(()) } else { Err(Rejection::WrongMethod { execution }) }
}
