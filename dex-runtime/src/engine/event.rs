//! What happened to a run, in the past tense. The events are the truth; everything else is a fold of them.
//!
//! How they look on disk is `store/record`'s business.

use std::time::Duration;

use super::state::{RunIdentity, Status};
use super::wait::{Condition, Matched};
use crate::ids::{ExecutionNo, Name, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

/// A line of a run's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run exists from here on.
    RunStarted {
        /// What never changes about it.
        identity: RunIdentity,
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
    },
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
    /// An RPC.
    Rpc(Name),
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
            Self::Failed { .. } | Self::StepFailed { .. } | Self::Stopped { stop: Stop::Fail, .. } => {
                Status::Failed
            }
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
