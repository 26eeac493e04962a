//! Beginning a run.

use super::command::Start;
use super::decide::{Limits, Rejection};
use super::event::{Event, Source};
use super::state::RunState;
use crate::ids::ExecutionNo;

pub(super) fn start(request: Start, limits: &Limits) -> Result<Vec<Event>, Rejection> {
    let Start { identity, movement, staged } = request;
    if let Some((slot, _)) = staged.messages.get(limits.channel_messages_max) {
        return Err(Rejection::ChannelFull { slot: slot.clone(), max: limits.channel_messages_max });
    }
    let attributes = staged.attributes.into_iter().map(|(slot, value)| match value {
        Some(value) => Event::AttributeSet { slot, value },
        None => Event::AttributeDeleted { slot },
    });
    let messages = staged.messages.into_iter().map(|(slot, value)| Event::MessagePublished { slot, value });
    let first = movement.map(|movement| Event::StepScheduled {
        execution: ExecutionNo(1),
        step: movement.step,
        source: Source::Start,
        input: movement.input,
        waits: movement.waits,
        recovery: None,
    });
    let started = Event::RunStarted { identity };
    Ok(std::iter::once(started).chain(attributes).chain(messages).chain(first).collect())
}

pub(super) fn already_started(state: &RunState) -> Rejection {
    Rejection::AlreadyStarted { run_id: state.identity.run_id, status: state.status() }
}
