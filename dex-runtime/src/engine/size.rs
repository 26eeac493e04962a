//! How much memory a run takes: counted with every event, so that a run can be refused what is too much.
//!
//! What counts are the bytes that users give (values, keys, texts) and, for each thing that there may be many of, a
//! round number for its fields, its names and its place in a map. The allocator takes some more; the count is what
//! a limit can be compared with, not what the system says.

use super::children::{Child, ChildNo, ChildStage, ChildStart};
use super::command::Command;
use super::decide::{Limits, Rejection};
use super::event::{Event, Failure, Recovery};
use super::evolve::{Broken, evolve};
use super::state::{Answered, Execution, Message, Phase, RunState};
use super::wait::Condition;
use crate::ids::{ExecutionNo, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

const ATTRIBUTE: usize = 128;
const MESSAGE: usize = 96;
const EXECUTION: usize = 768;
const CONDITION: usize = 96;
const FAILURE: usize = 128;
const OUTPUT: usize = 96;
const ANSWER: usize = 128;
/// Holds the room for a short end, so that a child whose end is too large can at least be told as such.
const CHILD: usize = 1024 + CHILD_END;
const CHILD_END: usize = 1024;

impl RunState {
    /// How many bytes the run takes, counted anew.
    pub fn count_bytes(&self) -> usize {
        let attributes = self.attributes.iter().map(|(slot, attribute)| attribute_of(slot, &attribute.value));
        let queued = self
            .channels
            .iter()
            .flat_map(|(slot, channel)| channel.queue.values().map(move |value| message(slot, value)));
        let executions = self
            .executions
            .values()
            .map(|execution| light(execution) + condition_of(execution) + reserved(execution));
        let children = self.children.all.values().map(child);
        let outputs = self.outputs.iter().map(|output| OUTPUT + len(&output.value));
        let answers = self.requests.iter().map(answer);
        let counted =
            attributes.chain(queued).chain(executions).chain(children).chain(outputs).chain(answers);
        counted.sum()
    }

    /// Of what `event` changes: how much it takes now, but for messages.
    fn touched(&self, event: &Event) -> usize {
        let no = event.execution();
        let execution = no.and_then(|no| self.executions.get(&no));
        execution.map_or(0, |execution| light(execution))
            + match event {
                Event::WaitStarted { .. }
                | Event::WaitMet { .. }
                | Event::StepCompleted { .. }
                | Event::StepFailed { .. }
                | Event::StepCanceled { .. }
                | Event::StepSkipped { .. } => {
                    execution.map_or(0, |execution| condition_of(execution))
                        + no.map_or(0, |no| self.children_of(no))
                }
                Event::AttributeSet { slot, .. } | Event::AttributeDeleted { slot } => {
                    self.attributes.get(slot).map_or(0, |attribute| attribute_of(slot, &attribute.value))
                }
                Event::ChildRequested { child: no, .. }
                | Event::ChildStarted { child: no, .. }
                | Event::ChildEnded { child: no, .. }
                | Event::ChildStopped { child: no } => self.children.all.get(no).map_or(0, child),
                Event::RequestAnswered { .. } => self.requests.iter().map(answer).sum(),
                Event::RunClosed { .. } => {
                    let executions = self.executions.values().map(|of| light(of) + condition_of(of));
                    executions.chain(self.children.all.values().map(child)).sum()
                }
                _ => 0,
            }
    }

    fn children_of(&self, execution: ExecutionNo) -> usize {
        let of_wait = ChildNo { execution, index: 0 }..=ChildNo { execution, index: u32::MAX };
        self.children.all.range(of_wait).map(|(_, of)| child(of)).sum()
    }

    /// Bytes of messages and outputs that come with `event`, and of those that go with it. Messages that only move,
    /// into a step's hands and back, are neither.
    fn passing(&self, event: &Event) -> (usize, usize) {
        match event {
            Event::MessagePublished { slot, value } => (message(slot, value), 0),
            Event::MessageDeleted { slot, number } => {
                let queue = self.channels.get(slot).map(|channel| &channel.queue);
                (0, queue.and_then(|queue| queue.get(number)).map_or(0, |value| message(slot, value)))
            }
            Event::StepCompleted { execution } => {
                (0, self.executions.get(execution).map_or(0, |execution| reserved(execution)))
            }
            Event::OutputProduced { value, .. } => (OUTPUT + len(value), 0),
            _ => (0, 0),
        }
    }
}

/// Folds an event into the run by `apply` and counts what that does to its size.
pub(super) fn counted(
    state: &mut RunState,
    event: &Event,
    apply: impl FnOnce(&mut RunState) -> Option<()>,
) -> Option<()> {
    let ((come, gone), before) = (state.passing(event), state.touched(event));
    apply(state)?;
    let after = state.touched(event);
    state.bytes = (state.bytes + come + after).checked_sub(gone + before)?;
    Some(())
}

/// Refuses what `events` are about to do to a run if they make it larger and too large.
///
/// A run that is over the limit, since that was set lower meanwhile, may go on as long as it does not grow.
pub(super) fn check(
    state: Option<&RunState>,
    events: &[Event],
    now: Timestamp,
    limits: &Limits,
) -> Result<(), super::Refusal> {
    let limit = limits.state_bytes_max;
    let before = state.map_or(0, |state| state.bytes);
    // All that comes is an upper bound; what goes counts exactly only when it matters.
    let most: usize = events.iter().map(most).sum();
    if before.saturating_add(most) <= limit {
        return Ok(());
    }
    let size = after(state, events, now)?;
    if size <= limit || size <= before { Ok(()) } else { Err(Rejection::StateFull { size, limit }.into()) }
}

/// The size of the run after `events`, tried on a copy.
fn after(state: Option<&RunState>, events: &[Event], now: Timestamp) -> Result<usize, Broken> {
    let mut events = events.iter();
    let mut run = match (state, events.as_slice().first()) {
        (Some(run), _) => run.clone(),
        (None, Some(Event::RunStarted { identity, timeout })) => {
            events.next();
            RunState::begin(identity.clone(), timeout.clone())
        }
        (None, _) => return Ok(0),
    };
    events.try_for_each(|event| evolve(&mut run, event, now))?;
    Ok(run.bytes)
}

/// Most that `event` can add.
fn most(event: &Event) -> usize {
    match event {
        Event::AttributeSet { slot, value } => attribute_of(slot, value),
        Event::MessagePublished { slot, value } => message(slot, value),
        Event::StepScheduled { input, recovery, locks, .. } => scheduled(input, recovery.as_ref(), locks),
        Event::CheckpointStored { value, .. } => len(value),
        Event::WaitStarted { condition: of, .. } => condition(of),
        Event::ChildRequested { request, .. } => CHILD + begun(&request.start),
        Event::ChildEnded { result, .. } => len(result),
        Event::RequestAnswered { answer, .. } => ANSWER + len(answer),
        Event::OutputProduced { value, .. } => OUTPUT + len(value),
        Event::AttemptFailed { failure: of, .. } | Event::StepParked { failure: of, .. } => failure(of),
        _ => 0,
    }
}

impl Command {
    /// Whether the command brings values with it that may be too much for the run.
    ///
    /// The others are what operators and time do, and reports of failures: they add a few kilobytes at most, and a
    /// run that is full has to go on taking them.
    pub(super) fn brings_values(&self) -> bool {
        match self {
            Self::Start(_)
            | Self::StartWait(_)
            | Self::CompleteStep(_)
            | Self::Publish { .. }
            | Self::ApplyRpc(_)
            | Self::Write(_)
            | Self::Checkpoint { .. }
            | Self::EndChild { .. } => true,
            Self::LeaveStep { to, .. } => to.is_some(),
            Self::Once { command, .. } => command.brings_values(),
            Self::FailAttempt(_)
            | Self::DeleteMessage { .. }
            | Self::FireTimer { .. }
            | Self::ResumeStep { .. }
            | Self::SkipTimer { .. }
            | Self::Stop { .. }
            | Self::Pause
            | Self::Resume
            | Self::HandOut { .. }
            | Self::NoteStarted(_)
            | Self::NoteStopped(_)
            | Self::NoteTold => false,
        }
    }
}

fn len(value: &Payload) -> usize {
    value.as_bytes().len()
}

fn key(slot: &Slot) -> usize {
    slot.key.as_ref().map_or(0, |key| key.as_str().len())
}

fn attribute_of(slot: &Slot, value: &Payload) -> usize {
    ATTRIBUTE + key(slot) + len(value)
}

/// A message, with its part of its channel: an entry of a map may have only one.
fn message(slot: &Slot, value: &Payload) -> usize {
    MESSAGE + key(slot) + len(value)
}

fn reserved(execution: &Execution) -> usize {
    let reserved = execution.outcome.iter().flat_map(|outcome| &outcome.reserved);
    reserved.map(|(slot, Message { value, .. })| message(slot, value)).sum()
}

/// An execution, but for what it waits for or was given.
fn light(execution: &Execution) -> usize {
    let Execution { input, recovery, locks, last_failure, checkpoint, .. } = execution;
    scheduled(input, recovery.as_ref(), locks)
        + last_failure.as_ref().map_or(0, failure)
        + checkpoint.as_ref().map_or(0, len)
}

fn scheduled(input: &Payload, recovery: Option<&Recovery>, locks: &[Slot]) -> usize {
    let locks: usize = locks.iter().map(|lock| CONDITION + key(lock)).sum();
    EXECUTION + len(input) + recovery.map_or(0, |recovery| failure(&recovery.failure)) + locks
}

fn condition_of(execution: &Execution) -> usize {
    match (&execution.phase, &execution.outcome) {
        (Phase::Waiting { condition: of, .. }, _) => condition(of),
        (_, Some(outcome)) => condition(&outcome.condition),
        (_, None) => 0,
    }
}

fn condition(of: &Condition) -> usize {
    CONDITION
        + match of {
            Condition::Messages { slot, .. } => key(slot),
            Condition::Timer { .. } | Condition::Child { .. } => 0,
            Condition::Ready(value) => len(value),
            Condition::Any { of, .. } | Condition::All(of) => of.iter().map(condition).sum(),
            Condition::With(inner, local) => condition(inner) + len(local),
        }
}

fn failure(failure: &Failure) -> usize {
    let Failure { type_name, message, chain, place, .. } = failure;
    let chain: usize = chain.iter().map(String::len).sum();
    FAILURE + type_name.len() + message.len() + chain + place.as_ref().map_or(0, String::len)
}

fn child(child: &Child) -> usize {
    CHILD
        + match &child.stage {
            ChildStage::Wanted(start) => begun(start),
            ChildStage::Open(_) => 0,
            ChildStage::Ended(result) => len(result).saturating_sub(CHILD_END),
        }
}

fn begun(start: &ChildStart) -> usize {
    let attributes = start.attributes.iter().map(|(slot, value)| attribute_of(slot, value));
    len(&start.input) + attributes.sum::<usize>()
}

fn answer(answered: &Answered) -> usize {
    ANSWER + len(&answered.answer)
}
