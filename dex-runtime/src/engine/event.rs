//! What happened to a run, in the past tense. The events are the truth; everything else is a fold of them.
//!
//! How they look on disk is `store/record`'s business.

use std::sync::Arc;
use std::time::Duration;

use super::children::{ChildNo, ChildRequest};
use super::patch::StepPatch;
use super::state::{RunIdentity, Status};
use super::wait::{Condition, Matched};
use crate::ids::{Epoch, ExecutionNo, FlowId, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

/// A line of a run's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run exists from here on.
    RunStarted {
        /// What never changes about it.
        identity: RunIdentity,
        /// When its time is up, and what happens then.
        timeout: Option<RunTimeout>,
    },
    /// An attribute got a value.
    AttributeSet {
        /// Which.
        slot: Slot,
        /// The value.
        value: Payload,
    },
    /// An attribute lost its value.
    AttributeDeleted {
        /// Which.
        slot: Slot,
    },
    /// A message was put at the end of a channel.
    MessagePublished {
        /// The channel.
        slot: Slot,
        /// The message.
        value: Payload,
    },
    /// A message that nobody had reserved was taken out of a channel.
    MessageDeleted {
        /// The channel.
        slot: Slot,
        /// The message's number.
        number: u64,
    },
    /// A handler noted something for those who read the history.
    Noted {
        /// The step execution whose handler did; `None`: an RPC.
        execution: Option<ExecutionNo>,
        /// What it is called.
        name: Name,
        /// The value.
        value: Payload,
    },
    /// A channel of a map left the run, as nothing is in it and nobody waits for it. Its next message, if it gets
    /// one, goes on behind all numbers that a message of such a channel ever had.
    ChannelForgotten {
        /// The channel.
        slot: Slot,
    },
    /// An RPC changed the run; what it changed follows in the same transition.
    RpcApplied {
        /// The RPC's stored name.
        rpc: Name,
    },
    /// A step execution exists from here on.
    StepScheduled {
        /// Its number.
        execution: ExecutionNo,
        /// The step.
        step: Name,
        /// What scheduled it.
        source: Source,
        /// The step's input.
        input: Payload,
        /// Whether the step has a `wait_for` that comes first.
        waits: bool,
        /// What it is to recover from, if it is a recovery.
        recovery: Option<Recovery>,
        /// Attributes that the step has for itself while it runs, in their order, each once.
        locks: Vec<Slot>,
        /// What the movement changes about the step's options.
        patch: Option<Arc<StepPatch>>,
    },
    /// The locks that an execution waited for are free and now its own; its handler is called.
    LocksTaken {
        /// The execution.
        execution: ExecutionNo,
    },
    /// A handler that runs said how far it has come.
    CheckpointStored {
        /// The execution.
        execution: ExecutionNo,
        /// What the next attempt can read.
        value: Payload,
    },
    /// A handler is about to be called again after its process had died.
    HandedOut {
        /// The execution.
        execution: ExecutionNo,
        /// The opening of the store under which it is called.
        opening: Epoch,
        /// How many of its hand-outs were lost with their process, one after the other.
        lost: u32,
    },
    /// A wait that begins in the same transition asked for a child.
    ChildRequested {
        /// Which.
        child: ChildNo,
        /// What it is to be called.
        flow_id: FlowId,
        /// What it is to be.
        request: Box<ChildRequest>,
    },
    /// A child was started.
    ChildStarted {
        /// Which.
        child: ChildNo,
        /// As which run.
        run: RunId,
    },
    /// A child has ended, or could not be started.
    ChildEnded {
        /// Which.
        child: ChildNo,
        /// How, as the step is given it.
        result: Payload,
    },
    /// A child was stopped since this run has ended.
    ChildStopped {
        /// Which.
        child: ChildNo,
    },
    /// The parent knows that this run has ended.
    ParentTold,
    /// `wait_for` said what to wait for.
    WaitStarted {
        /// The execution that waits.
        execution: ExecutionNo,
        /// For what.
        condition: Condition,
    },
    /// Time reached a timer of a wait.
    TimerFired {
        /// The execution that waits.
        execution: ExecutionNo,
        /// Timers up to this instant count as fired.
        until: Timestamp,
    },
    /// A wait is over; the messages in `matched` are reserved for the execution.
    WaitMet {
        /// The execution that waited.
        execution: ExecutionNo,
        /// Which alternatives won and how many messages each takes.
        matched: Matched,
    },
    /// An attempt failed and another one follows.
    AttemptFailed {
        /// The execution.
        execution: ExecutionNo,
        /// How.
        failure: Failure,
        /// When this attempt started.
        started_at: Timestamp,
        /// When the next one starts.
        retry_at: Timestamp,
    },
    /// The time for the next attempt came.
    RetryStarted {
        /// The execution.
        execution: ExecutionNo,
    },
    /// Repeating cannot help: the execution stands until an operator looks at it.
    StepParked {
        /// The execution.
        execution: ExecutionNo,
        /// Why.
        failure: Failure,
    },
    /// An operator let a parked execution go on.
    StepResumed {
        /// The execution.
        execution: ExecutionNo,
    },
    /// An operator ended a parked execution; its reserved messages are back at the front of their channels.
    StepSkipped {
        /// The execution, which ends here.
        execution: ExecutionNo,
    },
    /// The step did its work; its reserved messages are consumed.
    StepCompleted {
        /// The execution, which ends here.
        execution: ExecutionNo,
    },
    /// The step failed for good; its reserved messages are back at the front of their channels.
    StepFailed {
        /// The execution, which ends here.
        execution: ExecutionNo,
        /// How the last attempt failed.
        failure: Failure,
    },
    /// The execution was ended from outside; its reserved messages are back at the front of their channels.
    StepCanceled {
        /// The execution, which ends here.
        execution: ExecutionNo,
    },
    /// The run's time was up; what happens then follows in the same transition.
    TimeoutReached,
    /// Somebody asked for the run's end, and handlers still run or a clean-up step follows.
    CancelRequested {
        /// What the caller said.
        reason: Option<String>,
        /// Handlers that still run are called off at this instant.
        until: Timestamp,
        /// What follows once none runs.
        cleanup: Option<StepTarget>,
    },
    /// Handlers of a run that is being cancelled had their time; those that still run end with this.
    GraceEnded,
    /// No attempt starts from here on.
    RunPaused,
    /// Attempts start again.
    RunResumed,
    /// A request with an id was carried out; a repetition of it gets the same answer.
    RequestAnswered {
        /// The caller's id.
        request: Name,
        /// A digest of what was asked.
        digest: u64,
        /// What was answered.
        answer: Payload,
    },
    /// A completing decision gave an output, and asked for the run's completion.
    OutputProduced {
        /// The step that decided so.
        step: Name,
        /// Its execution's number among those of the step.
        number: u32,
        /// The output.
        value: Payload,
    },
    /// The run ended.
    RunClosed {
        /// In which way.
        closing: Closing,
    },
}

/// What scheduled a step execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The start of the run.
    Start,
    /// The decision of another execution.
    Step(ExecutionNo),
    /// The failure of another execution.
    Recovery(ExecutionNo),
    /// The end of the run's time.
    Timeout,
    /// The cancelling of the run.
    Cancel,
    /// An RPC.
    Rpc(Name),
}

/// A step that the engine itself may start, and what it has to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTarget {
    /// The step.
    pub step: Name,
    /// Whether it has a `wait_for` that comes first.
    pub waits: bool,
    /// Attributes that it has for itself while it runs.
    pub locks: Vec<Slot>,
}

/// When a run's time is up, and what happens then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTimeout {
    /// When.
    pub at: Timestamp,
    /// What happens.
    pub then: TimeoutAction,
}

/// What happens when a run's time is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeoutAction {
    /// The run fails.
    Fail,
    /// The run is cancelled.
    Cancel(CancelPlan),
    /// This step starts, with `()` as its input; the run goes on.
    Step(StepTarget),
}

/// How a run is cancelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CancelPlan {
    /// How long handlers that run may go on.
    pub grace: Duration,
    /// What follows once none runs, with `()` as its input.
    pub cleanup: Option<StepTarget>,
}

/// What a recovery step recovers from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The step that failed.
    pub step: Name,
    /// How its last attempt failed.
    pub failure: Failure,
    /// How many attempts failed.
    pub attempts: u32,
    /// Whether the step itself was called, and may have had effects outside; `false` if its `wait_for` failed, so
    /// that there is nothing to undo.
    pub may_have_run: bool,
}

/// How an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The error's Rust type, where there is one.
    pub type_name: String,
    /// The error's text.
    pub message: String,
    /// The texts of the errors below it, outermost first.
    pub chain: Vec<String>,
    /// File and line, where known.
    pub place: Option<String>,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The handler returned an error.
    Error,
    /// The handler returned an error that says "do not try again".
    Fatal,
    /// The handler panicked.
    Panic,
    /// The attempt took longer than its timeout.
    Timeout,
    /// The attempt gave no sign of life for longer than its heartbeat allows.
    HeartbeatTimeout,
    /// The process died while the attempt ran, again and again.
    Crash,
    /// What no repetition can mend: an undecodable value, a step the build does not have, a value over a limit.
    Unworkable,
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Fatal => "fatal error",
            Self::Panic => "panic",
            Self::Timeout => "timeout",
            Self::HeartbeatTimeout => "heartbeat timeout",
            Self::Crash => "crash",
            Self::Unworkable => "unworkable",
        })
    }
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closing {
    /// By completing decisions.
    Completed,
    /// By a decision to fail.
    Failed {
        /// What the step said.
        reason: String,
    },
    /// By a step whose retries were used up and that has no recovery.
    StepFailed {
        /// The step.
        step: Name,
        /// Its execution's number among those of the step.
        number: u32,
        /// How the last attempt failed.
        failure: Failure,
    },
    /// By the end of its time.
    TimedOut,
    /// By a stop from outside.
    Stopped {
        /// Of which kind.
        stop: Stop,
        /// What the caller said.
        reason: Option<String>,
    },
}

impl Closing {
    /// The status of a run that ended like this.
    pub fn status(&self) -> Status {
        match self {
            Self::Completed => Status::Completed,
            Self::Failed { .. }
            | Self::StepFailed { .. }
            | Self::TimedOut
            | Self::Stopped { stop: Stop::Fail, .. } => Status::Failed,
            Self::Stopped { stop: Stop::Cancel, .. } => Status::Canceled,
            Self::Stopped { stop: Stop::Terminate, .. } => Status::Terminated,
        }
    }
}

/// A way to stop a run from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// It is no longer wanted.
    Cancel,
    /// At once, whatever it does.
    Terminate,
    /// It counts as failed.
    Fail,
}

/// How to space the attempts of a method, and when to give up.
///
/// Attempt `n` (from 1) that fails is followed by the next after
/// `min(initial × factor^(n-1), max_interval)`, spread by ±10 %; no attempt starts once `attempts` were made
/// or `total` has passed since the first one began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Pause after the first failure. At least 1 ms.
    pub initial: Duration,
    /// What each pause is longer than the one before. At least 1.
    pub factor: f64,
    /// Longest pause.
    pub max_interval: Duration,
    /// Most attempts, the first included. `None`: as many as fit in `total`.
    pub attempts: Option<u32>,
    /// Time from the start of the first attempt within which attempts may start. `None`: for ever.
    pub total: Option<Duration>,
}

impl RetryPolicy {
    /// 1 s, doubling, at most 100 s, any number of attempts within 4 hours.
    pub const DEFAULT: Self = Self {
        initial: Duration::from_secs(1),
        factor: 2.0,
        max_interval: Duration::from_secs(100),
        attempts: None,
        total: Some(Duration::from_hours(4)),
    };
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}
