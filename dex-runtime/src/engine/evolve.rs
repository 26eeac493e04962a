//! What a run is after an event.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::event::{Event, Failure};
use super::state::{
    Attribute, ChannelState, Closed, Execution, Message, Method, Output, Phase, RunIdentity, RunState,
};
use super::wait::{self, Condition, Matched, Outcome};
use crate::ids::{ExecutionNo, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

/// An event that cannot have happened to this run: its history is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history is damaged: {event} at transition {version} does not fit the run before it")]
pub struct Broken {
    /// The event's name.
    pub event: &'static str,
    /// The transition it is part of.
    pub version: u64,
}

impl RunState {
    /// The run right after its [`Event::RunStarted`].
    pub(super) fn begin(identity: RunIdentity) -> Self {
        Self {
            identity: Arc::new(identity),
            version: 1,
            scheduled: 0,
            step_counts: BTreeMap::new(),
            executions: BTreeMap::new(),
            ready: 0,
            attributes: Arc::default(),
            channels: BTreeMap::new(),
            completion_requested: false,
            outputs: Vec::new(),
            closed: None,
        }
    }
}

/// Folds one event of the transition at `at` into the run.
///
/// # Errors
///
/// [`Broken`] if the event does not fit the run, which no event that [`decide`](super::decide) made does.
/// The state is then not to be used.
pub fn evolve(state: &mut RunState, event: &Event, at: Timestamp) -> Result<(), Broken> {
    apply(state, event, at).ok_or(Broken { event: event.name(), version: state.version })
}

fn apply(state: &mut RunState, event: &Event, at: Timestamp) -> Option<()> {
    match event {
        Event::RunStarted { .. } => return None,
        Event::AttributeSet { slot, value } => {
            let attribute = Attribute { value: value.clone(), version: state.version };
            let attributes = Arc::make_mut(&mut state.attributes);
            match attributes.get_mut(slot) {
                Some(known) => *known = attribute,
                None => {
                    attributes.insert(slot.clone(), attribute);
                }
            }
        }
        Event::AttributeDeleted { slot } => {
            Arc::make_mut(&mut state.attributes).remove(slot);
        }
        Event::MessagePublished { slot, value } => publish(state, slot, value),
        Event::RpcApplied { .. } => {}
        Event::StepScheduled { .. } => schedule(state, event, at)?,
        Event::WaitStarted { execution, condition } => {
            condition.each_channel(&mut |slot| {
                state.channels.entry(slot.clone()).or_default().waiting.insert(*execution);
            });
            // What has come by now needs no firing.
            let phase = Phase::Waiting { condition: condition.clone(), fired_until: at };
            move_to(state, *execution, phase, at)?;
        }
        Event::TimerFired { execution, until } => match &mut state.executions.get_mut(execution)?.phase {
            Phase::Waiting { fired_until, .. } => *fired_until = *until,
            _ => return None,
        },
        Event::WaitMet { execution, matched } => meet(state, *execution, matched, at)?,
        Event::AttemptFailed { execution, failure, started_at, retry_at } => {
            let method = ready_method(state, *execution)?;
            let phase = Phase::Backoff { method, until: *retry_at };
            let failed = move_to(state, *execution, phase, at)?;
            note_failure(failed, failure);
            failed.first_attempt_at.get_or_insert(*started_at);
        }
        Event::RetryStarted { execution } => {
            let Phase::Backoff { method, .. } = state.executions.get(execution)?.phase else { return None };
            let again = move_to(state, *execution, Phase::Ready(method), at)?;
            again.attempt += 1;
        }
        Event::StepParked { execution, failure } => {
            let method = ready_method(state, *execution)?;
            let parked = move_to(state, *execution, Phase::Parked(method), at)?;
            note_failure(parked, failure);
        }
        Event::StepResumed { execution } => {
            let Phase::Parked(method) = state.executions.get(execution)?.phase else { return None };
            begin_method(move_to(state, *execution, Phase::Ready(method), at)?);
        }
        Event::StepCompleted { execution } => {
            let ended = remove(state, *execution)?;
            for (slot, _) in ended.outcome.into_iter().flat_map(|outcome| outcome.reserved) {
                state.channels.get_mut(&slot)?.reserved -= 1;
            }
        }
        Event::StepFailed { execution, .. } | Event::StepCanceled { execution } => {
            let ended = remove(state, *execution)?;
            give_back(&mut state.channels, ended)?;
        }
        Event::OutputProduced { step, number, value } => {
            state.completion_requested = true;
            state.outputs.push(Output { step: step.clone(), number: *number, value: value.clone() });
        }
        Event::RunClosed { closing } => {
            let unconsumed = state.unconsumed();
            for execution in std::mem::take(&mut state.executions).into_values() {
                give_back(&mut state.channels, execution)?;
            }
            state.channels.values_mut().for_each(|channel| channel.waiting.clear());
            state.ready = 0;
            state.closed = Some(Closed { at, closing: closing.clone(), unconsumed });
        }
    }
    Some(())
}

fn publish(state: &mut RunState, slot: &Slot, value: &Payload) {
    let message = |number| Message { number, value: value.clone() };
    if let Some(channel) = state.channels.get_mut(slot) {
        channel.published += 1;
        channel.queue.push_back(message(channel.published));
    } else {
        let queue = VecDeque::from([message(1)]);
        let channel = ChannelState { queue, published: 1, ..ChannelState::default() };
        state.channels.insert(slot.clone(), channel);
    }
}

fn schedule(state: &mut RunState, event: &Event, at: Timestamp) -> Option<()> {
    let Event::StepScheduled { execution, step, source, input, waits, recovery } = event else { return None };
    if execution.0 != state.scheduled + 1 {
        return None;
    }
    state.scheduled += 1;
    state.ready += 1;
    let number = if let Some(count) = state.step_counts.get_mut(step) {
        *count += 1;
        *count
    } else {
        state.step_counts.insert(step.clone(), 1);
        1
    };
    let scheduled = Execution {
        step: step.clone(),
        number,
        source: source.clone(),
        input: input.clone(),
        phase: Phase::Ready(if *waits { Method::WaitFor } else { Method::Execute }),
        since: at,
        attempt: 1,
        failures: 0,
        first_attempt_at: None,
        last_failure: None,
        recovery: recovery.clone(),
        outcome: None,
    };
    state.executions.insert(*execution, scheduled);
    Some(())
}

/// Changes an execution's phase, and keeps the count of ready ones.
fn move_to(state: &mut RunState, no: ExecutionNo, phase: Phase, at: Timestamp) -> Option<&mut Execution> {
    let execution = state.executions.get_mut(&no)?;
    state.ready -= usize::from(matches!(execution.phase, Phase::Ready(_)));
    state.ready += usize::from(matches!(phase, Phase::Ready(_)));
    execution.phase = phase;
    execution.since = at;
    Some(execution)
}

/// Makes the execution's current method start with its first attempt.
fn begin_method(execution: &mut Execution) {
    execution.attempt += 1;
    execution.failures = 0;
    execution.first_attempt_at = None;
    execution.last_failure = None;
}

/// Ends an execution's wait and reserves what it was met with.
fn meet(state: &mut RunState, no: ExecutionNo, matched: &Matched, at: Timestamp) -> Option<()> {
    let channels = &mut state.channels;
    let next = state.executions.get_mut(&no)?;
    let phase = std::mem::replace(&mut next.phase, Phase::Ready(Method::Execute));
    let Phase::Waiting { condition, .. } = phase else { return None };
    forget_waiting(channels, &condition, no);
    let mut reserved = Vec::new();
    let mut reserve = |slot: &Slot, count| channels.get_mut(slot)?.reserve(count);
    wait::take(&condition, matched, &mut reserve, &mut reserved)?;
    next.since = at;
    next.outcome = Some(Outcome { condition, matched: matched.clone(), reserved });
    begin_method(next);
    state.ready += 1;
    Some(())
}

fn forget_waiting(channels: &mut BTreeMap<Slot, ChannelState>, condition: &Condition, no: ExecutionNo) {
    condition.each_channel(&mut |slot| {
        if let Some(channel) = channels.get_mut(slot) {
            channel.waiting.remove(&no);
        }
    });
}

fn remove(state: &mut RunState, no: ExecutionNo) -> Option<Execution> {
    let ended = state.executions.remove(&no)?;
    match &ended.phase {
        Phase::Ready(_) => state.ready -= 1,
        Phase::Waiting { condition, .. } => forget_waiting(&mut state.channels, condition, no),
        Phase::Backoff { .. } | Phase::Parked(_) => {}
    }
    Some(ended)
}

fn ready_method(state: &RunState, no: ExecutionNo) -> Option<Method> {
    match state.executions.get(&no)?.phase {
        Phase::Ready(method) => Some(method),
        _ => None,
    }
}

fn note_failure(execution: &mut Execution, failure: &Failure) {
    execution.failures += 1;
    execution.last_failure = Some(failure.clone());
}

/// Returns the messages of an execution that ends without having consumed them.
fn give_back(channels: &mut BTreeMap<Slot, ChannelState>, ended: Execution) -> Option<()> {
    // The newest first: each then goes to the very front, and none of those before it has to move.
    for (slot, message) in ended.outcome.into_iter().flat_map(|outcome| outcome.reserved).rev() {
        channels.get_mut(&slot)?.give_back(message);
    }
    Some(())
}

impl Event {
    /// The event's name, for logs, errors and lists.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "RunStarted",
            Self::AttributeSet { .. } => "AttributeSet",
            Self::AttributeDeleted { .. } => "AttributeDeleted",
            Self::MessagePublished { .. } => "MessagePublished",
            Self::RpcApplied { .. } => "RpcApplied",
            Self::StepScheduled { .. } => "StepScheduled",
            Self::WaitStarted { .. } => "WaitStarted",
            Self::TimerFired { .. } => "TimerFired",
            Self::WaitMet { .. } => "WaitMet",
            Self::AttemptFailed { .. } => "AttemptFailed",
            Self::RetryStarted { .. } => "RetryStarted",
            Self::StepParked { .. } => "StepParked",
            Self::StepResumed { .. } => "StepResumed",
            Self::StepCompleted { .. } => "StepCompleted",
            Self::StepFailed { .. } => "StepFailed",
            Self::StepCanceled { .. } => "StepCanceled",
            Self::OutputProduced { .. } => "OutputProduced",
            Self::RunClosed { .. } => "RunClosed",
        }
    }

    /// The step execution that the event is about, if it is about one.
    pub fn execution(&self) -> Option<ExecutionNo> {
        match self {
            Self::StepScheduled { execution, .. }
            | Self::WaitStarted { execution, .. }
            | Self::TimerFired { execution, .. }
            | Self::WaitMet { execution, .. }
            | Self::AttemptFailed { execution, .. }
            | Self::RetryStarted { execution }
            | Self::StepParked { execution, .. }
            | Self::StepResumed { execution }
            | Self::StepCompleted { execution }
            | Self::StepFailed { execution, .. }
            | Self::StepCanceled { execution } => Some(*execution),
            Self::RunStarted { .. }
            | Self::AttributeSet { .. }
            | Self::AttributeDeleted { .. }
            | Self::MessagePublished { .. }
            | Self::RpcApplied { .. }
            | Self::OutputProduced { .. }
            | Self::RunClosed { .. } => None,
        }
    }
}
