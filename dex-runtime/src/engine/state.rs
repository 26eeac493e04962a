//! What a run is at one moment: the fold of its events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::children::{Children, Parent};
use super::event::{Closing, Failure, Recovery, RunTimeout, Source, StepTarget};
use super::patch::StepPatch;
use super::shared::SharedMap;
use super::wait::{Condition, Outcome};
use super::waiters::Waiters;
use crate::ids::{Attempt, Epoch, ExecutionNo, FlowId, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

/// What never changes about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    /// The stored name of the flow's definition.
    pub flow: Name,
    /// What the caller called the run.
    pub flow_id: FlowId,
    /// What the engine called it.
    pub run_id: RunId,
    /// When it was started.
    pub started_at: Timestamp,
    /// The run that has started it, if it is a child.
    pub parent: Option<Parent>,
}

/// Whether a run goes on, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// Steps run or wait, or an RPC may still start some.
    Running,
    /// Goes on, but no attempt starts until it is resumed.
    Paused,
    /// Ended by a completing decision.
    Completed,
    /// Ended by a failing decision or by a step whose retries were used up.
    Failed,
    /// Ended by a cancel from outside.
    Canceled,
    /// Ended by a terminate from outside.
    Terminated,
}

impl Status {
    /// Whether the run has ended.
    pub fn is_closed(self) -> bool {
        !matches!(self, Self::Running | Self::Paused)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Running => "Running",
            Self::Paused => "Paused",
            Self::Completed => "Completed",
            Self::Failed => "Failed",
            Self::Canceled => "Canceled",
            Self::Terminated => "Terminated",
        })
    }
}

/// A run as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunState {
    /// Shared with every view that is handed out.
    pub identity: Arc<RunIdentity>,
    /// Transitions folded so far; the last one's sequence number.
    pub version: u64,
    /// Executions ever scheduled; the last one's number.
    pub scheduled: u64,
    /// Executions ever scheduled of each step: the `n` of `<step>-<n>`.
    pub step_counts: BTreeMap<Name, u32>,
    /// Executions that have not ended, in the order of scheduling. In boxes, since the map has room for eleven as
    /// soon as there is one.
    pub executions: BTreeMap<ExecutionNo, Box<Execution>>,
    /// How many of them are [`Phase::Ready`]. Kept so that "active or parked" costs nothing to ask.
    pub ready: usize,
    /// The attributes that are set. Shared with views.
    pub attributes: SharedMap<Slot, Attribute>,
    /// Every channel that ever held a message or had a waiter; those of maps only as long as they do, since a map
    /// may have used a key for each message. Shared with views.
    pub channels: SharedMap<Slot, ChannelState>,
    /// Highest number of a message of a channel that is there no more: no number is given twice.
    pub numbered: u64,
    /// Whether a step has asked for completion. Sticky: the run completes once no execution is left.
    pub completion_requested: bool,
    /// What completing decisions gave, in order.
    pub outputs: Vec<Output>,
    /// Whether attempts are held back.
    pub paused: bool,
    /// Who has which attribute for itself.
    pub locks: BTreeMap<Slot, ExecutionNo>,
    /// Executions that are [`Phase::Blocked`], by each attribute that they wait for.
    pub blocked: BTreeMap<Slot, BTreeSet<ExecutionNo>>,
    /// When the run's time is up, unless it was already.
    pub timeout: Option<RunTimeout>,
    /// Set from the asking for the run's end until it has ended.
    pub canceling: Option<Canceling>,
    /// Requests with an id that were carried out, oldest first.
    pub requests: VecDeque<Answered>,
    /// The runs that this one has started.
    pub children: Children,
    /// Whether the parent knows that the run has ended.
    pub parent_told: bool,
    /// How the run ended, once it has.
    pub closed: Option<Closed>,
    /// The execution that has ended by itself in the transition that is being folded: what it leads to follows
    /// at once. Nothing between transitions.
    pub ended: Option<(ExecutionNo, StepId)>,
    /// How many bytes all this takes, as [`count_bytes`](Self::count_bytes) counts. Kept so that a limit costs
    /// nothing.
    pub bytes: usize,
}

/// A run that is being cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canceling {
    /// What the caller said.
    pub reason: Option<String>,
    /// Handlers that still run are called off at this instant. `None`: they were, or none was left.
    pub until: Option<Timestamp>,
    /// The step that is still to clean up.
    pub cleanup: Option<StepTarget>,
    /// Whether what runs now is the clean-up.
    pub cleaning: bool,
}

/// A request with an id that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The caller's id.
    pub request: Name,
    /// A digest of what was asked.
    pub digest: u64,
    /// What was answered.
    pub answer: Payload,
}

/// An attribute's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The value.
    pub value: Payload,
    /// The transition that wrote it: what an RPC compares to learn whether what it read has changed.
    pub version: u64,
}

/// A step execution as people call it: `<step>-<n>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepId {
    /// The step's stored name.
    pub step: Name,
    /// The execution's number among those of the step.
    pub number: u32,
}

impl std::fmt::Display for StepId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.step, self.number)
    }
}

/// One entry into a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The step's stored name.
    pub step: Name,
    /// Counts the executions of this step in this run, from 1.
    pub number: u32,
    /// What scheduled it.
    pub source: Source,
    /// What people call the execution that `source` names, if it names one. Not known of a run whose snapshot an
    /// earlier build wrote.
    pub source_id: Option<StepId>,
    /// The step's input, the same for both methods and all attempts.
    pub input: Payload,
    /// Where it stands.
    pub phase: Phase,
    /// When it came to stand there.
    pub since: Timestamp,
    /// Number of the last hand-out, over both methods: the attempt token.
    pub attempt: u32,
    /// Failed attempts of the current method.
    pub failures: u32,
    /// Start of the current method's first attempt; known once an attempt has reported.
    pub first_attempt_at: Option<Timestamp>,
    /// How the last attempt of the current method failed.
    pub last_failure: Option<Failure>,
    /// What this execution is to recover from, if it is a recovery.
    pub recovery: Option<Recovery>,
    /// Attributes that the step has for itself from its first hand-out to its end.
    pub locks: Vec<Slot>,
    /// What its movement changes about the step's options, for both methods and all attempts.
    pub patch: Option<Arc<StepPatch>>,
    /// How far the step said it had come; kept over its attempts.
    pub checkpoint: Option<Payload>,
    /// The last hand-out that was written down before its handler was called.
    pub handed_out: Option<HandedOut>,
    /// What its wait gave, once it was met. Holds the messages that are reserved for it.
    pub outcome: Option<Outcome>,
}

/// A hand-out that was written down since an earlier one was lost with its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandedOut {
    /// Under which opening of the store.
    pub opening: Epoch,
    /// How many hand-outs were lost before it.
    pub lost: u32,
}

/// Which of a step's two methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `wait_for`: says what to wait for.
    WaitFor,
    /// The step itself.
    Execute,
}

/// Where a step execution stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A handler is to be called, or is being called.
    Ready(Method),
    /// The step is next, once the attributes that it locks are free.
    Blocked,
    /// Nothing to do until the condition is met.
    Waiting {
        /// What is waited for.
        condition: Condition,
        /// Timers up to this instant have fired.
        fired_until: Timestamp,
    },
    /// The last attempt failed; the next one starts later.
    Backoff {
        /// The method to try again.
        method: Method,
        /// When.
        until: Timestamp,
    },
    /// Repeating cannot help: an operator must look at it. The reason is the last failure.
    Parked(Method),
}

impl Execution {
    /// The earliest instant at which time alone changes something for this execution.
    pub fn due(&self) -> Option<Timestamp> {
        match &self.phase {
            Phase::Backoff { until, .. } => Some(*until),
            Phase::Waiting { condition, fired_until } => condition.next_timer(*fired_until),
            Phase::Ready(_) | Phase::Blocked | Phase::Parked(_) => None,
        }
    }

    /// What people call it: `<step>-<n>`.
    pub fn id(&self) -> String {
        format!("{}-{}", self.step, self.number)
    }

    pub(super) fn step_id(&self) -> StepId {
        StepId { step: self.step.clone(), number: self.number }
    }

    /// Whether the attributes that the step has for itself are its own now.
    pub fn holds_locks(&self) -> bool {
        matches!(
            self.phase,
            Phase::Ready(Method::Execute)
                | Phase::Backoff { method: Method::Execute, .. }
                | Phase::Parked(Method::Execute)
        )
    }

    /// Makes the execution's current method start with its first attempt.
    pub(super) fn begin_method(&mut self) {
        self.attempt += 1;
        self.failures = 0;
        self.first_attempt_at = None;
        self.last_failure = None;
        self.handed_out = None;
    }

    /// Messages of `slot` that are reserved for this execution.
    pub fn reserved(&self, slot: &Slot) -> usize {
        let reserved = self.outcome.as_ref().map_or(&[][..], |outcome| &outcome.reserved);
        reserved.iter().filter(|(taken, _)| taken == slot).count()
    }

    /// What the step is given beside its input, once its wait was met.
    pub fn outcome_value(&self) -> Option<Payload> {
        self.outcome.as_ref().map(Outcome::value)
    }
}

/// A durable queue of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelState {
    /// Messages nobody has reserved, by their numbers: oldest first. Shared with views.
    pub queue: SharedMap<u64, Payload>,
    /// The last message's number. Counts the messages ever published, but for a channel of a map that was there
    /// before.
    pub published: u64,
    /// Messages that are reserved for executions.
    pub reserved: usize,
    /// Executions whose condition names this channel, so that a message wakes only those that it may be enough for.
    pub waiting: Waiters,
}

impl ChannelState {
    /// Whether nothing is in it, nothing may come back, and nobody waits for it.
    pub(super) fn is_unneeded(&self) -> bool {
        self.queue.is_empty() && self.reserved == 0 && self.waiting.is_empty()
    }
}

/// A message of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its place in the channel, from 1: what keeps the order when a failed step gives messages back.
    pub number: u64,
    /// The value.
    pub value: Payload,
}

/// What a completing decision gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The step that completed.
    pub step: Name,
    /// Its execution's number among those of the step.
    pub number: u32,
    /// The value.
    pub value: Payload,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// When.
    pub at: Timestamp,
    /// In which way.
    pub closing: Closing,
    /// Messages that nobody had consumed.
    pub unconsumed: u64,
}

impl RunState {
    /// Whether the run goes on, or how it ended.
    pub fn status(&self) -> Status {
        match &self.closed {
            None if self.paused => Status::Paused,
            None => Status::Running,
            Some(closed) => closed.closing.status(),
        }
    }

    /// Whether a handler is to be called now, or something done with other runs. A run that is not active
    /// needs no memory.
    pub fn is_active(&self) -> bool {
        (self.ready > 0 && !self.paused) || self.has_errands()
    }

    /// The earliest instant at which time alone changes something for the run as a whole.
    pub fn due(&self) -> Option<Timestamp> {
        let grace = self.canceling.as_ref().and_then(|canceling| canceling.until);
        let timeout = self.timeout.as_ref().map(|timeout| timeout.at);
        grace.into_iter().chain(timeout).min()
    }

    /// Whether the run is being cancelled and what runs is not the clean-up: nothing new may follow.
    pub fn is_winding_down(&self) -> bool {
        self.canceling.as_ref().is_some_and(|canceling| !canceling.cleaning)
    }

    /// What was answered to a request with this id.
    pub fn answered(&self, request: &Name) -> Option<&Answered> {
        self.requests.iter().find(|answered| answered.request == *request)
    }

    /// The execution that `attempt` belongs to, if this attempt is the one that runs now.
    pub fn running(&self, attempt: Attempt) -> Option<&Execution> {
        let execution = self.executions.get(&attempt.execution)?;
        let current = matches!(execution.phase, Phase::Ready(_)) && execution.attempt == attempt.number;
        current.then_some(execution)
    }

    /// The channel, new if it is not there.
    pub(crate) fn channel_mut(&mut self, slot: &Slot) -> &mut ChannelState {
        if !self.channels.contains_key(slot) {
            let new = ChannelState { published: self.numbered, ..ChannelState::default() };
            self.channels.insert(slot.clone(), new);
        }
        self.channels.get_or_default(slot)
    }

    /// Messages of `slot` that nobody has reserved.
    pub fn available(&self, slot: &Slot) -> usize {
        self.channels.get(slot).map_or(0, |channel| channel.queue.len())
    }

    /// Whether nobody has reserved the message of `slot` with this number.
    pub fn has_message(&self, slot: &Slot, number: u64) -> bool {
        self.channels.get(slot).is_some_and(|channel| channel.queue.contains_key(&number))
    }

    /// Messages of `slot` that no step has consumed, reserved ones included.
    pub fn held(&self, slot: &Slot) -> usize {
        self.channels.get(slot).map_or(0, |channel| channel.queue.len() + channel.reserved)
    }

    /// Messages that no step has consumed, reserved ones included.
    pub fn unconsumed(&self) -> u64 {
        self.channels.values().map(|channel| (channel.queue.len() + channel.reserved) as u64).sum()
    }
}
