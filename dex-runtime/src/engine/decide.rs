//! What a command does to a run: routes to the family of the command, and the ways to refuse one.

use std::collections::BTreeMap;

use super::command::{Command, Note, Staged};
use super::event::Event;
use super::state::{Execution, Phase, RunState, Status};
use super::{children, close, operate, rpc, start, step};
use crate::ids::{Attempt, ExecutionNo, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

/// Bounds on what one run may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages that may wait in one channel. A producer that outruns its flow is told so before the run
    /// takes the memory of the others.
    pub channel_messages_max: usize,
    /// Step executions that may be open at once. Wider fan-outs belong in runs of their own.
    pub executions_max: usize,
    /// Children that may go on at once. A run holds a few hundred bytes for each; more belong to children of
    /// their own.
    pub children_max: usize,
    /// Bytes that a run may take: the values, keys and texts of its attributes, messages, steps, children, outputs
    /// and remembered answers, and some for the place of each. An open run is in memory as a whole whenever it does
    /// something, and so is its snapshot; a flow that keeps more needs another place for it. At the limit, what
    /// makes the run smaller goes on, and so does all that operators do.
    pub state_bytes_max: usize,
}

impl Limits {
    /// 100,000 messages, 10,000 executions, 10,000 children, 64 MiB.
    pub const DEFAULT: Self = Self {
        channel_messages_max: 100_000,
        executions_max: 10_000,
        children_max: 10_000,
        state_bytes_max: 64 * 1024 * 1024,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A refused command; the run is as before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// There is no such run.
    #[error("there is no such run")]
    NotFound,
    /// The run was started before.
    #[error("the run was already started as {run_id}")]
    AlreadyStarted {
        /// The run.
        run_id: RunId,
        /// Whether it goes on, or how it ended.
        status: Status,
    },
    /// The run has ended.
    #[error("the run has ended: {status}")]
    Closed {
        /// How.
        status: Status,
    },
    /// The report is about an attempt that is not the current one: late, repeated, or of an ended step.
    #[error("attempt {} of execution {} is not the current one", got.number, got.execution.0)]
    StaleAttempt {
        /// The attempt that was reported.
        got: Attempt,
        /// The current one, if a handler of the execution is running.
        current: Option<u32>,
    },
    /// Nothing of this execution is due.
    #[error("nothing of execution {} is due", execution.0)]
    NothingDue {
        /// The execution.
        execution: ExecutionNo,
    },
    /// Another request was made under the same id.
    #[error("request `{request}` was made before with other content: use a new id for a new request")]
    RequestMismatch {
        /// The id.
        request: Name,
    },
    /// The request was carried out before.
    #[error("request `{request}` was carried out before")]
    Answered {
        /// The id.
        request: Name,
        /// What was answered then.
        answer: Payload,
    },
    /// The run is being cancelled and takes no new steps.
    #[error("the run is being cancelled")]
    Canceling,
    /// A step has the attribute for itself.
    #[error("attribute {slot} is locked by a running step: try again when it has ended")]
    Locked {
        /// The attribute.
        slot: Slot,
    },
    /// The run is paused: nothing fires until it is resumed.
    #[error("the run is paused")]
    Paused,
    /// The execution waits for no timer that has not fired.
    #[error("execution {} waits for no timer that has not fired", execution.0)]
    NoTimer {
        /// The execution.
        execution: ExecutionNo,
    },
    /// The execution is not parked.
    #[error("execution {} is not parked", execution.0)]
    NotParked {
        /// The execution.
        execution: ExecutionNo,
    },
    /// The report is about the other method of the step.
    #[error("execution {} is not in the method that was reported", execution.0)]
    WrongMethod {
        /// The execution.
        execution: ExecutionNo,
    },
    /// The decision goes on with no step.
    #[error("the decision names no next step: end the branch with `Next::dead_end()` or complete the run")]
    NoNextStep,
    /// The condition has no parts.
    #[error("the wait has no conditions: use `Wait::ready(..)` to wait for nothing")]
    EmptyWait,
    /// Too many groups of the condition stand inside one another.
    #[error("the wait has more than {max} groups inside one another: flatten it")]
    WaitTooDeep {
        /// The limit.
        max: usize,
    },
    /// A part of the condition asks for a number of messages that cannot be.
    #[error(
        "the wait asks channel {slot} for at least {min} and at most {max} messages, which it never has: \
         it holds at most {limit}"
    )]
    ImpossibleCount {
        /// The channel.
        slot: Slot,
        /// Fewest that would do.
        min: u32,
        /// Most that would be taken.
        max: u32,
        /// Most that the channel holds.
        limit: usize,
    },
    /// The channel has no such message, or a step has taken it.
    #[error(
        "channel {slot} has no message {number} that could be deleted: a step has taken it, or it never was there"
    )]
    NoSuchMessage {
        /// The channel.
        slot: Slot,
        /// The message's number.
        number: u64,
    },
    /// A channel would hold too many messages.
    #[error("channel {slot} would hold {size} messages, the limit is {max}: consume some first")]
    ChannelFull {
        /// The channel.
        slot: Slot,
        /// How many it would hold.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// Too many step executions would be open.
    #[error(
        "the run would have {size} open step executions, the limit is {max}: use runs of their own for wider \
         fan-outs"
    )]
    TooManySteps {
        /// How many it would have.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// Too many children would go on.
    #[error(
        "the run would have {size} children at once, the limit is {max}: start some of them from children"
    )]
    TooManyChildren {
        /// How many it would have.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// The run would take too much memory.
    #[error(
        "the run's state would take {size} bytes, the limit is {limit}: delete attributes or consume messages \
         first, or store big values elsewhere and pass their addresses"
    )]
    StateFull {
        /// What it would take, in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The condition does not name the children that came with it.
    #[error("the wait names {named} children and has {given}: this is a fault of the library")]
    ChildrenUnlike {
        /// How many the condition names.
        named: usize,
        /// How many came with it.
        given: usize,
    },
    /// Something that the writer read has changed meanwhile.
    #[error("attribute {slot} has changed since it was read")]
    Conflict {
        /// The attribute.
        slot: Slot,
    },
}

/// Says what `command` does to a run at `now`; `None` is a run that does not exist.
///
/// # Errors
///
/// [`Rejection`] if the command does not fit the run; nothing has happened then.
pub fn decide(
    state: Option<&RunState>,
    command: Command,
    now: Timestamp,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let Some(state) = state else {
        return match command {
            Command::Start(request) => start::start(request, now, limits),
            Command::Once { .. } => once(None, command, now, limits),
            _ => Err(Rejection::NotFound),
        };
    };
    match command {
        // What was answered is answered again, also after the run has ended.
        Command::Once { .. } => once(Some(state), command, now, limits),
        Command::Start(_) => Err(start::already_started(state)),
        // An RPC that only read may be answered on a closed run.
        Command::ApplyRpc(report) => rpc::apply(state, report, limits),
        // What runs want of one another outlives them.
        Command::NoteStarted(started) => Ok(children::started(state, &started)),
        Command::NoteStopped(stopped) => Ok(children::stopped(state, &stopped)),
        Command::EndChild { child, result } => children::ended(state, child, result),
        Command::NoteTold => Ok(children::told(state)),
        _ if state.closed.is_some() => Err(Rejection::Closed { status: state.status() }),
        Command::StartWait(report) => step::start_wait(state, report, limits),
        Command::CompleteStep(report) => step::complete(state, report, limits),
        Command::FailAttempt(report) => step::fail(state, report, now),
        Command::FireTimer { execution } => step::fire_timer(state, execution, now),
        Command::ResumeStep { execution } => operate::retry(state, execution),
        Command::LeaveStep { execution, missing, to } => {
            operate::leave(state, execution, missing, to, limits)
        }
        Command::SkipTimer { execution } => operate::skip_timer(state, execution),
        Command::Publish { slot, values } => {
            let (size, max) = (state.held(&slot) + values.len(), limits.channel_messages_max);
            if size > max {
                return Err(Rejection::ChannelFull { slot, size, max });
            }
            let publish = |value| Event::MessagePublished { slot: slot.clone(), value };
            Ok(values.into_iter().map(publish).collect())
        }
        Command::DeleteMessage { slot, number } => {
            if !state.has_message(&slot, number) {
                return Err(Rejection::NoSuchMessage { slot, number });
            }
            Ok(vec![Event::MessageDeleted { slot, number }])
        }
        Command::Write(report) => rpc::write_from_outside(state, report, limits),
        Command::Stop { stop, reason, plan } => close::stop(state, stop, reason, plan, now),
        // It is to end, and nobody could tell when.
        Command::Pause if state.canceling.is_some() => Err(Rejection::Canceling),
        Command::Pause if state.paused => Ok(Vec::new()),
        Command::Pause => Ok(vec![Event::RunPaused]),
        Command::Resume if state.paused => Ok(vec![Event::RunResumed]),
        Command::Resume => Ok(Vec::new()),
        Command::Checkpoint { attempt, value } => step::checkpoint(state, attempt, value),
        Command::HandOut { attempt, opening, lost_max } => step::hand_out(state, attempt, opening, lost_max),
    }
}

/// Carries a request out, unless it was carried out before.
fn once(
    state: Option<&RunState>,
    command: Command,
    now: Timestamp,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let Command::Once { request, digest, answer, command } = command else { return Ok(Vec::new()) };
    match state.and_then(|state| state.answered(&request)) {
        Some(before) if before.digest == digest => {
            return Err(Rejection::Answered { request, answer: before.answer.clone() });
        }
        Some(_) => return Err(Rejection::RequestMismatch { request }),
        None => {}
    }
    let mut events = decide(state, *command, now, limits)?;
    // A query of a run that has ended: what has ended does not change.
    if events.is_empty() && state.is_some_and(|state| state.closed.is_some()) {
        return Ok(events);
    }
    let beginning = matches!(events.first(), Some(Event::RunStarted { .. }));
    events.insert(usize::from(beginning), Event::RequestAnswered { request, digest, answer });
    Ok(events)
}

/// The execution that `attempt` is the current attempt of.
pub(super) fn current(state: &RunState, attempt: Attempt) -> Result<&Execution, Rejection> {
    state.running(attempt).ok_or_else(|| Rejection::StaleAttempt {
        got: attempt,
        current: state
            .executions
            .get(&attempt.execution)
            .filter(|execution| matches!(execution.phase, Phase::Ready(_)))
            .map(|execution| execution.attempt),
    })
}

/// Adds the events of what the handler of `by` staged, for a run that may not exist yet.
///
/// `ending` is the execution that completes in the same transition: the messages it took are then gone.
pub(super) fn write(
    state: Option<&RunState>,
    (by, ending): (Option<ExecutionNo>, Option<&Execution>),
    staged: Staged,
    limits: &Limits,
    events: &mut Vec<Event>,
) -> Result<(), Rejection> {
    check_channels(state, ending, &staged, limits)?;
    let Staged { attributes, deleted, messages, notes } = staged;
    events.extend(attributes.into_iter().map(|(slot, value)| match value {
        Some(value) => Event::AttributeSet { slot, value },
        None => Event::AttributeDeleted { slot },
    }));
    // One that was taken since the handler saw it stays taken.
    let is_there = |(slot, number): &(Slot, u64)| state.is_some_and(|state| state.has_message(slot, *number));
    let deleted = deleted.into_iter().filter(is_there);
    events.extend(deleted.map(|(slot, number)| Event::MessageDeleted { slot, number }));
    events.extend(messages.into_iter().map(|(slot, value)| Event::MessagePublished { slot, value }));
    events.extend(notes.into_iter().map(|Note { name, value }| Event::Noted { execution: by, name, value }));
    Ok(())
}

/// Messages of `slot` that are there and that `staged` takes out.
pub(super) fn taken_out(state: &RunState, staged: &Staged, slot: &Slot) -> usize {
    let of_slot = staged.deleted.iter().filter(|(deleted, _)| deleted == slot);
    of_slot.filter(|(_, number)| state.has_message(slot, *number)).count()
}

fn check_channels(
    state: Option<&RunState>,
    ending: Option<&Execution>,
    staged: &Staged,
    limits: &Limits,
) -> Result<(), Rejection> {
    let (max, messages) = (limits.channel_messages_max, &staged.messages);
    let held = |slot: &Slot| state.map_or(0, |state| state.held(slot));
    // All of them are an upper bound for each channel; count exactly only when it matters.
    if messages.iter().all(|(slot, _)| held(slot) + messages.len() <= max) {
        return Ok(());
    }
    let mut counts: BTreeMap<&Slot, usize> = BTreeMap::new();
    for (slot, _) in messages {
        *counts.entry(slot).or_default() += 1;
    }
    let full = counts.into_iter().find_map(|(slot, more)| {
        let consumed = ending.map_or(0, |ending| ending.reserved(slot));
        let gone = consumed + state.map_or(0, |state| taken_out(state, staged, slot));
        let size = held(slot).saturating_sub(gone) + more;
        (size > max).then(|| Rejection::ChannelFull { slot: slot.clone(), size, max })
    });
    full.map_or(Ok(()), Err)
}
