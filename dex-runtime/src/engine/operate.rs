//! What an operator does to a step execution that does not go on by itself.

use super::command::Movement;
use super::decide::{Limits, Rejection};
use super::event::{Event, Failure, Source};
use super::state::{Phase, RunState};
use super::step;
use crate::ids::ExecutionNo;

/// A parked execution tries again.
pub(super) fn retry(state: &RunState, execution: ExecutionNo) -> Result<Vec<Event>, Rejection> {
    is_parked(state, execution)?;
    Ok(vec![Event::StepResumed { execution }])
}

/// A parked execution ends; its branch ends with it, or goes on with another step. So does one that is next and
/// whose step is `missing`.
pub(super) fn leave(
    state: &RunState,
    execution: ExecutionNo,
    missing: Option<Box<Failure>>,
    to: Option<Movement>,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let mut events = Vec::new();
    match (state.executions.get(&execution).map(|found| &found.phase), missing) {
        (Some(Phase::Ready(_)), Some(failure)) => {
            events.push(Event::StepParked { execution, failure: *failure });
        }
        _ => is_parked(state, execution)?,
    }
    events.push(Event::StepSkipped { execution });
    let others = state.executions.len() - 1;
    let source = Source::Step(execution);
    step::schedule(state, to.into_iter().collect(), &source, others, limits, &mut events)?;
    Ok(events)
}

/// The earliest timer of a wait that has not fired yet counts as fired, and so does each one of its instant.
pub(super) fn skip_timer(state: &RunState, execution: ExecutionNo) -> Result<Vec<Event>, Rejection> {
    let next = state.executions.get(&execution).and_then(|found| match &found.phase {
        Phase::Waiting { condition, fired_until } => condition.next_timer(*fired_until),
        _ => None,
    });
    let until = next.ok_or(Rejection::NoTimer { execution })?;
    Ok(vec![Event::TimerFired { execution, until }])
}

fn is_parked(state: &RunState, execution: ExecutionNo) -> Result<(), Rejection> {
    match state.executions.get(&execution).map(|found| &found.phase) {
        Some(Phase::Parked(_)) => Ok(()),
        _ => Err(Rejection::NotParked { execution }),
    }
}
