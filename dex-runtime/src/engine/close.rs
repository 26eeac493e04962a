//! Ending a run from outside, or because its time is up.

use std::time::Duration;

use super::decide::Rejection;
use super::event::{CancelPlan, Closing, Event, RunTimeout, Source, StepTarget, Stop, TimeoutAction};
use super::state::{Phase, RunState};
use crate::ids::ExecutionNo;
use crate::time::Timestamp;
use crate::value::Payload;

/// The first stop wins: a closed run refuses every later one before it comes here. Only a terminate or a
/// fail may overtake a cancel that is under way.
pub(super) fn stop(
    state: &RunState,
    stop: Stop,
    reason: Option<String>,
    plan: CancelPlan,
    now: Timestamp,
) -> Result<Vec<Event>, Rejection> {
    match stop {
        Stop::Cancel if state.canceling.is_some() => Err(Rejection::Canceling),
        Stop::Cancel => Ok(cancel(state, reason, plan, now)),
        Stop::Terminate | Stop::Fail => {
            Ok(vec![Event::RunClosed { closing: Closing::Stopped { stop, reason } }])
        }
    }
}

/// Ends what does not run, tells what runs, and leaves the rest to the grace period and the clean-up.
fn cancel(state: &RunState, reason: Option<String>, plan: CancelPlan, now: Timestamp) -> Vec<Event> {
    let CancelPlan { grace, cleanup } = plan;
    // What is paused is not to be started for its end: only the clean-up runs.
    let grace = if state.paused { Duration::ZERO } else { grace };
    let running = state.executions.values().any(|execution| matches!(execution.phase, Phase::Ready(_)));
    if cleanup.is_none() && (!running || grace.is_zero()) {
        return vec![Event::RunClosed { closing: Closing::Stopped { stop: Stop::Cancel, reason } }];
    }
    let goes_on = |phase: &Phase| !grace.is_zero() && matches!(phase, Phase::Ready(_));
    let until = now.saturating_add(grace);
    let mut events = Vec::new();
    events.extend(state.paused.then_some(Event::RunResumed));
    events.push(Event::CancelRequested { reason, until, cleanup });
    events.extend(canceled(state, goes_on));
    events
}

/// The ends of all executions but those that go on.
fn canceled(state: &RunState, goes_on: impl Fn(&Phase) -> bool) -> impl Iterator<Item = Event> {
    let ended = state.executions.iter().filter(move |(_, execution)| !goes_on(&execution.phase));
    ended.map(|(no, _)| Event::StepCanceled { execution: *no })
}

/// What happens to the run as a whole at `now`.
pub(super) fn fire(state: &RunState, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let grace = state.canceling.as_ref().and_then(|canceling| canceling.until);
    if grace.is_some_and(|until| until <= now) {
        let mut events = vec![Event::GraceEnded];
        events.extend(canceled(state, |_| false));
        return Ok(events);
    }
    match &state.timeout {
        Some(RunTimeout { at, then }) if *at <= now => {
            let mut events = vec![Event::TimeoutReached];
            match then {
                TimeoutAction::Fail => events.push(Event::RunClosed { closing: Closing::TimedOut }),
                TimeoutAction::Cancel(plan) => {
                    let reason = Some("the run's time was up".to_owned());
                    events.extend(cancel(state, reason, plan.clone(), now));
                }
                TimeoutAction::Step(target) => events.push(start(state, target, Source::Timeout)),
            }
            Ok(events)
        }
        _ => Err(Rejection::NothingDue { execution: ExecutionNo(0) }),
    }
}

/// The start of a step that the engine itself starts.
fn start(state: &RunState, target: &StepTarget, source: Source) -> Event {
    let StepTarget { step, waits, locks } = target.clone();
    Event::StepScheduled {
        execution: ExecutionNo(state.scheduled + 1),
        step,
        source,
        input: Payload::NULL,
        waits,
        recovery: None,
        locks,
        patch: None,
    }
}

/// What follows once nothing is left to run of a run that is being cancelled.
pub(super) fn wind_up(state: &RunState) -> Option<Event> {
    let canceling = state.canceling.as_ref()?;
    if !state.executions.is_empty() {
        return None;
    }
    if let Some(target) = &canceling.cleanup {
        return Some(start(state, target, Source::Cancel));
    }
    let reason = canceling.reason.clone();
    Some(Event::RunClosed { closing: Closing::Stopped { stop: Stop::Cancel, reason } })
}
