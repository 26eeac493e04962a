//! What can be asked of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::children::{ChildNo, ChildRequest};
use super::event::{CancelPlan, Failure, RetryPolicy, StepTarget, Stop, TimeoutAction};
use super::patch::StepPatch;
use super::reads::Reads;
use super::state::RunIdentity;
use super::wait::Condition;
use crate::ids::{Attempt, Epoch, ExecutionNo, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

/// Something asked of a run. The engine answers with events or with a [`Rejection`](super::Rejection).
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Begin a run.
    Start(Start),
    /// `wait_for` returned.
    StartWait(WaitReport),
    /// A step returned.
    CompleteStep(StepReport),
    /// An attempt failed.
    FailAttempt(FailureReport),
    /// Put messages at the end of a channel.
    Publish {
        /// The channel.
        slot: Slot,
        /// The messages, in order.
        values: Vec<Payload>,
    },
    /// Take a message that nobody has reserved out of a channel.
    DeleteMessage {
        /// The channel.
        slot: Slot,
        /// The message's number.
        number: u64,
    },
    /// An RPC that may write has run; apply what it did if what it read is still so.
    ApplyRpc(RpcReport),
    /// Write from outside, if what the writer read is still so.
    Write(WriteReport),
    /// The time of something of this execution may have come.
    FireTimer {
        /// The execution.
        execution: ExecutionNo,
    },
    /// Let a parked execution try again.
    ResumeStep {
        /// The execution.
        execution: ExecutionNo,
    },
    /// End an execution that is parked, or whose step is missing: an operator has seen that it is not to run again.
    LeaveStep {
        /// The execution.
        execution: ExecutionNo,
        /// Why no handler runs although it is not parked: the step is none of this build.
        missing: Option<Box<Failure>>,
        /// What follows in its place; `None` ends the branch.
        to: Option<Movement>,
    },
    /// Let the next timer of a wait count as fired.
    SkipTimer {
        /// The execution that waits.
        execution: ExecutionNo,
    },
    /// End the run.
    Stop {
        /// In which way.
        stop: Stop,
        /// What the caller says about it.
        reason: Option<String>,
        /// How, for a cancel.
        plan: CancelPlan,
    },
    /// Start no attempt until the run is resumed.
    Pause,
    /// Start attempts again.
    Resume,
    /// Keep how far a running handler has come.
    Checkpoint {
        /// Which attempt says so.
        attempt: Attempt,
        /// What the next attempt can read.
        value: Payload,
    },
    /// A handler is about to be called whose last call was lost with its process.
    HandOut {
        /// Which attempt it is.
        attempt: Attempt,
        /// The opening of the store that calls it.
        opening: Epoch,
        /// Lost calls in a row after which the execution is parked instead.
        lost_max: u32,
    },
    /// Children that the run asked for were started, as these runs.
    NoteStarted(BTreeMap<ChildNo, RunId>),
    /// Children were stopped, since the run has ended.
    NoteStopped(BTreeSet<ChildNo>),
    /// A child has ended, or cannot be started.
    EndChild {
        /// Which.
        child: ChildNo,
        /// How, as the step is to be given it.
        result: Payload,
    },
    /// The parent knows that this run has ended.
    NoteTold,
    /// Carry out a request once, however often it comes.
    Once {
        /// The caller's id for it.
        request: Name,
        /// A digest of what is asked: another request under the same id is refused.
        digest: u64,
        /// What is answered, now and to repetitions.
        answer: Payload,
        /// What is asked.
        command: Box<Command>,
    },
}

impl Command {
    /// The command's name, for logs and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::StartWait(_) => "start wait",
            Self::CompleteStep(_) => "complete step",
            Self::FailAttempt(_) => "fail attempt",
            Self::Publish { .. } => "publish",
            Self::DeleteMessage { .. } => "delete message",
            Self::ApplyRpc(_) => "apply rpc",
            Self::Write(_) => "write",
            Self::FireTimer { .. } => "fire timer",
            Self::ResumeStep { .. } => "resume step",
            Self::LeaveStep { .. } => "leave step",
            Self::SkipTimer { .. } => "skip timer",
            Self::Stop { .. } => "stop",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Checkpoint { .. } => "checkpoint",
            Self::HandOut { .. } => "hand out",
            Self::NoteStarted(_) => "note started children",
            Self::NoteStopped(_) => "note stopped children",
            Self::EndChild { .. } => "end child",
            Self::NoteTold => "note told parent",
            Self::Once { command, .. } => command.name(),
        }
    }
}

/// How to begin a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// What never changes about it.
    pub identity: RunIdentity,
    /// The start step with its input; `None` for a flow that begins with no step.
    pub movement: Option<Movement>,
    /// Attributes and messages that are there from the beginning.
    pub staged: Staged,
    /// How long the run may take, and what happens then.
    pub timeout: Option<(Duration, TimeoutAction)>,
    /// An RPC that has run on the run as the rest of this makes it.
    pub call: Option<Box<RpcReport>>,
}

/// What a handler wrote. It takes effect with the handler's outcome or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staged {
    /// Attribute writes (`None` deletes), in order; the last one of a slot counts.
    pub attributes: Vec<(Slot, Option<Payload>)>,
    /// Messages that are taken out of their channels, by their numbers, if nobody has taken them meanwhile.
    pub deleted: BTreeSet<(Slot, u64)>,
    /// Messages, in order.
    pub messages: Vec<(Slot, Payload)>,
    /// What is to be seen in the history, in order.
    pub notes: Vec<Note>,
}

/// Something that a handler noted for those who read the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is called.
    pub name: Name,
    /// The value.
    pub value: Payload,
}

impl Staged {
    /// How many events it may give.
    pub fn len(&self) -> usize {
        self.attributes.len() + self.deleted.len() + self.messages.len() + self.notes.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An entry into a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// The step.
    pub step: Name,
    /// Its input.
    pub input: Payload,
    /// Whether the step has a `wait_for` that comes first.
    pub waits: bool,
    /// Attributes that the step has for itself while it runs, in their order, each once.
    pub locks: Vec<Slot>,
    /// What this movement changes about the step's options.
    pub patch: Option<Arc<StepPatch>>,
}

/// Executions that a step or an RPC ends: all of a step, or those that have the same source as the one
/// that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelSteps {
    /// The step.
    pub step: Name,
    /// Only those with the same source.
    pub siblings: bool,
}

/// `wait_for` returned.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitReport {
    /// Which attempt this was.
    pub attempt: Attempt,
    /// What it wants to wait for.
    pub condition: Condition,
    /// The children that the condition names, in the order of their numbers.
    pub children: Vec<ChildRequest>,
    /// What it wrote.
    pub staged: Staged,
}

/// A step returned a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct StepReport {
    /// Which attempt this was.
    pub attempt: Attempt,
    /// What comes next.
    pub decision: Decision,
    /// What it ends beside itself, before anything comes next.
    pub cancels: Vec<CancelSteps>,
    /// What it wrote.
    pub staged: Staged,
}

/// What comes after a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// These steps, all at once, in this order. Never empty.
    Continue(Vec<Movement>),
    /// The run completes once no other execution is left.
    Complete(Payload),
    /// The run completes at once; other executions are cancelled.
    CompleteNow(Payload),
    /// The run completes at once if these channels are empty; else the step follows. One check.
    CompleteIfEmpty {
        /// The channels. Messages that other executions have reserved count as present.
        channels: Vec<Slot>,
        /// The output, if they are empty.
        output: Payload,
        /// What follows, if they are not.
        otherwise: Movement,
    },
    /// The run fails at once; other executions are cancelled.
    Fail {
        /// Why.
        reason: String,
    },
    /// This branch ends; the run goes on.
    DeadEnd,
}

/// An attempt failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureReport {
    /// Which attempt this was.
    pub attempt: Attempt,
    /// When it started.
    pub started_at: Timestamp,
    /// How it failed.
    pub failure: Failure,
    /// What the handler asked the next pause to be.
    pub retry_after: Option<Duration>,
    /// When to give up.
    pub retry: RetryPolicy,
    /// And what then.
    pub exhausted: Exhausted,
}

/// What happens to a step whose retries are used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The run fails.
    Fail,
    /// The execution is parked.
    Park,
    /// This branch ends; the run goes on.
    Proceed,
    /// This step takes over with the same input.
    Recover(StepTarget),
}

/// An RPC that may write has run.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcReport {
    /// The RPC.
    pub rpc: Name,
    /// What it read.
    pub reads: Reads,
    /// What it wrote.
    pub staged: Staged,
    /// The steps it starts, in order.
    pub movements: Vec<Movement>,
    /// What it ends, before it starts anything.
    pub cancels: Vec<CancelSteps>,
    /// Attributes that no step may have for itself meanwhile.
    pub locks: Vec<Slot>,
}

/// Somebody outside writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteReport {
    /// What it depends on.
    pub reads: Reads,
    /// What is written.
    pub staged: Staged,
}
