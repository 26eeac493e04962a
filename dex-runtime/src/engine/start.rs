//! Beginning a run.

use super::command::Start;
use super::decide::{Limits, Rejection, write};
use super::event::{Event, RunTimeout, Source};
use super::evolve::evolve;
use super::rpc;
use super::state::RunState;
use crate::ids::ExecutionNo;
use crate::time::Timestamp;

pub(super) fn start(request: Start, now: Timestamp, limits: &Limits) -> Result<Vec<Event>, Rejection> {
    let Start { identity, movement, staged, timeout, call } = request;
    let timeout = timeout.map(|(limit, then)| RunTimeout { at: now.saturating_add(limit), then });
    let mut events = Vec::with_capacity(staged.len() + 2);
    let mut run = call.is_some().then(|| RunState::begin(identity.clone(), timeout.clone()));
    events.push(Event::RunStarted { identity, timeout });
    write(None, (None, None), staged, limits, &mut events)?;
    events.extend(movement.map(|movement| Event::StepScheduled {
        execution: ExecutionNo(1),
        step: movement.step,
        source: Source::Start,
        input: movement.input,
        waits: movement.waits,
        recovery: None,
        locks: movement.locks,
        patch: movement.patch,
    }));
    if let (Some(call), Some(run)) = (call, &mut run) {
        for event in events.iter().skip(1) {
            // What does not fit is told when the whole is folded.
            let _ = evolve(run, event, now);
        }
        events.extend(rpc::apply(run, *call, limits)?);
    }
    Ok(events)
}

pub(super) fn already_started(state: &RunState) -> Rejection {
    Rejection::AlreadyStarted { run_id: state.identity.run_id, status: state.status() }
}
