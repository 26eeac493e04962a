//! What a run is after an event.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::children::{self, Children};
use super::event::{Closing, Event, Failure, RunTimeout, Source};
use super::locks;
use super::shared::SharedMap;
use super::size;
use super::state::{
    Answered, Attribute, Canceling, ChannelState, Closed, Execution, HandedOut, Method, Output, Phase,
    RunIdentity, RunState, StepId,
};
use super::wait::{self, Condition, Matched, Outcome};
use crate::ids::{ExecutionNo, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

/// Requests with an id whose answers a run remembers: more than a caller repeats, few enough to look through.
const REQUESTS_MAX: usize = 1_000;

/// Bytes of answers that a run remembers, but for the last one: what a run holds in memory has a bound.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

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
    pub(super) fn begin(identity: RunIdentity, timeout: Option<RunTimeout>) -> Self {
        Self {
            identity: Arc::new(identity),
            version: 1,
            scheduled: 0,
            step_counts: BTreeMap::new(),
            executions: BTreeMap::new(),
            ready: 0,
            attributes: SharedMap::new(),
            channels: SharedMap::new(),
            numbered: 0,
            completion_requested: false,
            outputs: Vec::new(),
            paused: false,
            locks: BTreeMap::new(),
            blocked: BTreeMap::new(),
            timeout,
            canceling: None,
            requests: VecDeque::new(),
            children: Children::default(),
            parent_told: false,
            closed: None,
            ended: None,
            bytes: 0,
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
    size::counted(state, event, |state| apply(state, event, at))
        .ok_or(Broken { event: event.name(), version: state.version })
}

#[expect(clippy::too_many_lines, reason = "one arm for each kind of event, and none of them is long")]
fn apply(state: &mut RunState, event: &Event, at: Timestamp) -> Option<()> {
    match event {
        Event::RunStarted { .. } => return None,
        Event::AttributeSet { slot, value } => {
            let attribute = Attribute { value: value.clone(), version: state.version };
            match state.attributes.get_mut(slot) {
                Some(known) => *known = attribute,
                None => {
                    state.attributes.insert(slot.clone(), attribute);
                }
            }
        }
        Event::AttributeDeleted { slot } => {
            state.attributes.remove(slot);
        }
        Event::MessagePublished { slot, value } => publish(state, slot, value),
        Event::MessageDeleted { slot, number } => {
            state.channels.get_mut(slot)?.queue.remove(number)?;
        }
        Event::ChannelForgotten { slot } => forget(state, slot),
        // They say what happened, and change nothing.
        Event::RpcApplied { .. } | Event::Noted { .. } => {}
        Event::StepScheduled { .. } => schedule(state, event, at)?,
        Event::WaitStarted { execution, condition } => {
            condition.each_need(&mut |slot, need| {
                state.channel_mut(slot).waiting.insert(*execution, need);
            });
            state.children.begin_wait(*execution, condition);
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
            failed.handed_out = None;
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
            parked.handed_out = None;
        }
        Event::StepResumed { execution } => {
            let Phase::Parked(method) = state.executions.get(execution)?.phase else { return None };
            move_to(state, *execution, Phase::Ready(method), at)?.begin_method();
        }
        Event::StepSkipped { execution } => {
            let Phase::Parked(_) = state.executions.get(execution)?.phase else { return None };
            let ended = remove(state, *execution)?;
            state.ended = Some((*execution, ended.step_id()));
            give_back(&mut state.channels, ended)?;
        }
        Event::StepCompleted { execution } => {
            let ended = remove(state, *execution)?;
            state.ended = Some((*execution, ended.step_id()));
            for (slot, _) in ended.outcome.into_iter().flat_map(|outcome| outcome.reserved) {
                state.channels.get_mut(&slot)?.reserved -= 1;
            }
        }
        Event::StepFailed { execution, .. } => {
            let ended = remove(state, *execution)?;
            state.ended = Some((*execution, ended.step_id()));
            give_back(&mut state.channels, ended)?;
        }
        Event::StepCanceled { execution } => {
            let ended = remove(state, *execution)?;
            give_back(&mut state.channels, ended)?;
        }
        Event::LocksTaken { execution } => locks::take(state, *execution, at)?,
        Event::CheckpointStored { execution, value } => {
            ready_method(state, *execution)?;
            state.executions.get_mut(execution)?.checkpoint = Some(value.clone());
        }
        Event::HandedOut { execution, opening, lost } => {
            ready_method(state, *execution)?;
            let handed_out = HandedOut { opening: *opening, lost: *lost };
            state.executions.get_mut(execution)?.handed_out = Some(handed_out);
        }
        Event::ChildRequested { .. }
        | Event::ChildStarted { .. }
        | Event::ChildEnded { .. }
        | Event::ChildStopped { .. }
        | Event::ParentTold => children::apply(state, event)?,
        Event::TimeoutReached => drop(state.timeout.take()?),
        Event::CancelRequested { reason, until, cleanup } => {
            state.timeout = None;
            let (reason, cleanup) = (reason.clone(), cleanup.clone());
            state.canceling = Some(Canceling { reason, until: Some(*until), cleanup, cleaning: false });
        }
        Event::GraceEnded => state.canceling.as_mut()?.until = None,
        Event::RunPaused => state.paused = true,
        Event::RunResumed => state.paused = false,
        Event::RequestAnswered { request, digest, answer } => {
            let (request, answer) = (request.clone(), answer.clone());
            remember(&mut state.requests, Answered { request, digest: *digest, answer });
        }
        Event::OutputProduced { step, number, value } => {
            state.completion_requested = true;
            state.outputs.push(Output { step: step.clone(), number: *number, value: value.clone() });
        }
        Event::RunClosed { closing } => close(state, closing, at)?,
    }
    Some(())
}

fn close(state: &mut RunState, closing: &Closing, at: Timestamp) -> Option<()> {
    let unconsumed = state.unconsumed();
    for execution in std::mem::take(&mut state.executions).into_values() {
        give_back(&mut state.channels, execution)?;
    }
    state.channels.values_mut().for_each(|channel| channel.waiting.clear());
    state.ready = 0;
    state.locks.clear();
    state.blocked.clear();
    state.children.close();
    (state.timeout, state.canceling, state.paused) = (None, None, false);
    state.closed = Some(Closed { at, closing: closing.clone(), unconsumed });
    Some(())
}

/// Adds a request, and forgets the oldest ones beyond what is kept, but never the last one.
fn remember(requests: &mut VecDeque<Answered>, answered: Answered) {
    requests.push_back(answered);
    let mut bytes: usize = requests.iter().map(|answered| answered.answer.as_bytes().len()).sum();
    while requests.len() > REQUESTS_MAX || (bytes > ANSWER_BYTES_MAX && requests.len() > 1) {
        let forgotten = requests.pop_front();
        bytes -= forgotten.map_or(0, |answered| answered.answer.as_bytes().len());
    }
}

fn publish(state: &mut RunState, slot: &Slot, value: &Payload) {
    let channel = state.channel_mut(slot);
    channel.published += 1;
    channel.queue.insert(channel.published, value.clone());
}

/// Under an alias it may be joined with another channel, which has something.
fn forget(state: &mut RunState, slot: &Slot) {
    let Some(channel) = state.channels.get(slot) else { return };
    state.numbered = state.numbered.max(channel.published);
    if channel.is_unneeded() {
        state.channels.remove(slot);
    }
}

fn schedule(state: &mut RunState, event: &Event, at: Timestamp) -> Option<()> {
    let Event::StepScheduled { execution, step, source, input, waits, recovery, locks, patch } = event else {
        return None;
    };
    if execution.0 != state.scheduled + 1 {
        return None;
    }
    if let (Source::Cancel, Some(canceling)) = (source, &mut state.canceling) {
        // From here on what runs is the clean-up, which takes the time it needs.
        *canceling = Canceling { cleanup: None, until: None, cleaning: true, ..canceling.clone() };
    }
    state.scheduled += 1;
    state.ready += usize::from(*waits);
    let number = if let Some(count) = state.step_counts.get_mut(step) {
        *count += 1;
        *count
    } else {
        state.step_counts.insert(step.clone(), 1);
        1
    };
    let of_source = |ended: &&(ExecutionNo, StepId)| matches!(source, Source::Step(no) | Source::Recovery(no) if *no == ended.0);
    let source_id = state.ended.as_ref().filter(of_source).map(|(_, id)| id.clone());
    let scheduled = Execution {
        step: step.clone(),
        number,
        source: source.clone(),
        source_id,
        input: input.clone(),
        phase: if *waits { Phase::Ready(Method::WaitFor) } else { Phase::Blocked },
        since: at,
        attempt: u32::from(*waits),
        failures: 0,
        first_attempt_at: None,
        last_failure: None,
        recovery: recovery.clone(),
        locks: locks.clone(),
        patch: patch.clone(),
        checkpoint: None,
        handed_out: None,
        outcome: None,
    };
    state.executions.insert(*execution, Box::new(scheduled));
    if *waits { Some(()) } else { locks::request_step(state, *execution, at) }
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

/// Ends an execution's wait and reserves what it was met with.
fn meet(state: &mut RunState, no: ExecutionNo, matched: &Matched, at: Timestamp) -> Option<()> {
    let channels = &mut state.channels;
    let next = state.executions.get_mut(&no)?;
    let phase = std::mem::replace(&mut next.phase, Phase::Blocked);
    let Phase::Waiting { mut condition, .. } = phase else { return None };
    forget_waiting(channels, &condition, no);
    let mut reserved = Vec::new();
    let mut reserve = |slot: &Slot, count| channels.get_mut(slot)?.reserve(count);
    wait::take(&condition, matched, &mut reserve, &mut reserved)?;
    let mut ended = state.children.end_wait(no);
    condition.fill_in(&mut |index| ended.remove(&index));
    next.outcome = Some(Outcome { condition, matched: matched.clone(), reserved });
    locks::request_step(state, no, at)
}

fn forget_waiting(channels: &mut SharedMap<Slot, ChannelState>, condition: &Condition, no: ExecutionNo) {
    condition.each_need(&mut |slot, need| {
        if let Some(channel) = channels.get_mut(slot) {
            channel.waiting.remove(no, need);
        }
    });
}

fn remove(state: &mut RunState, no: ExecutionNo) -> Option<Box<Execution>> {
    let ended = state.executions.remove(&no)?;
    locks::release(state, no, &ended);
    match &ended.phase {
        Phase::Ready(_) => state.ready -= 1,
        Phase::Waiting { condition, .. } => {
            forget_waiting(&mut state.channels, condition, no);
            // Those that go on do so; what the others gave is wanted no more.
            state.children.end_wait(no);
        }
        Phase::Blocked | Phase::Backoff { .. } | Phase::Parked(_) => {}
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
fn give_back(channels: &mut SharedMap<Slot, ChannelState>, ended: Box<Execution>) -> Option<()> {
    // The newest first: each then goes to the very front, and none of those before it has to move.
    for (slot, message) in ended.outcome.into_iter().flat_map(|outcome| outcome.reserved).rev() {
        channels.get_mut(&slot)?.give_back(message);
    }
    Some(())
}
