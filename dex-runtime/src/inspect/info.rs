//! What a run is and does at one moment.

use std::sync::Arc;

use crate::definition::Flows;
use crate::engine::{
    Child, ChildNo, ChildStage, Closed, Execution, Failure, ParentEnd, Phase, RunState, Status, StepPatch,
};
use crate::ids::{ExecutionNo, FlowId, Name, RunId, Slot};
use crate::time::Timestamp;

/// What a run is and does at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// What the caller called it.
    pub flow_id: FlowId,
    /// What the engine called it.
    pub run_id: RunId,
    /// The stored name of its flow.
    pub flow: Name,
    /// Whether it goes on, or how it ended.
    pub status: Status,
    /// When it was started.
    pub started_at: Timestamp,
    /// How and when it ended, if it has.
    pub closed: Option<Closed>,
    /// Whether it is being cancelled.
    pub canceling: bool,
    /// When time alone ends its grace period or its own time.
    pub due: Option<Timestamp>,
    /// Changes made to it so far.
    pub transitions: u64,
    /// Bytes that it takes of those that it may: `Options::limits.state_bytes_max`.
    pub state_bytes: usize,
    /// Step executions that have not ended, in the order of scheduling.
    pub steps: Vec<StepInfo>,
    /// Channels that hold messages.
    pub channels: Vec<ChannelInfo>,
    /// The run that has started it, if it is a child.
    pub parent: Option<ParentInfo>,
    /// Its children that go on, and those whose end a step still waits to be given. Of a run that has ended,
    /// those that it left behind.
    pub children: Vec<ChildInfo>,
}

/// The run that has started another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParentInfo {
    /// What it was called.
    pub flow_id: FlowId,
    /// What the engine called it.
    pub run_id: RunId,
}

/// A run that another one has started, as far as that one was told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// What it is called.
    pub flow_id: FlowId,
    /// The stored name of its flow.
    pub flow: Name,
    /// What the engine called it; known while it goes on.
    pub run_id: Option<RunId>,
    /// How far it is.
    pub phase: ChildPhase,
    /// What happens to it when its parent ends.
    pub on_parent_end: ParentEnd,
}

/// How far a child is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChildPhase {
    /// It is about to be started. If that lasts, its flow is not registered in this build.
    Starting,
    /// It goes on.
    Running,
    /// It has ended.
    Ended,
}

/// A step execution that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepInfo {
    /// `<step>-<n>`.
    pub id: String,
    /// What it does.
    pub phase: StepPhase,
    /// Since when.
    pub since: Timestamp,
    /// The next instant at which time alone changes something.
    pub due: Option<Timestamp>,
    /// Failed attempts of the method that is called now.
    pub failures: u32,
    /// How the last of them failed.
    pub last_failure: Option<Failure>,
    /// Names of the channels it waits for.
    pub channels: Vec<String>,
    /// The children that it waits for.
    pub children: Vec<ChildInfo>,
    /// The attributes that it waits to have for itself.
    pub locks: Vec<LockInfo>,
    /// What its movement changes about the step's options, if it does.
    pub patch: Option<Arc<StepPatch>>,
}

/// An attribute that a step waits to have for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockInfo {
    /// Its name.
    pub name: String,
    /// The step execution that has it now. `None`: another one has waited longer for it.
    pub holder: Option<String>,
}

/// What a step execution does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepPhase {
    /// Its handler is called, or is next to be.
    Running,
    /// It is next, and this build does not have its step. It goes on in a build that has; `skip_step` and
    /// `redirect_step` end it.
    Missing,
    /// It waits for messages, children or time.
    Waiting,
    /// It is next, once other steps have ended that have its attributes for themselves.
    Locked,
    /// The last attempt failed; the next one starts at `due`.
    Retrying,
    /// No repetition can help; it stands until `retry_step`, `skip_step` or `redirect_step` is called.
    Parked,
}

/// A channel that holds messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelInfo {
    /// Its name.
    pub name: String,
    /// Messages that nobody has reserved.
    pub waiting: usize,
    /// Messages that a running step has taken and not yet consumed.
    pub reserved: usize,
}

impl RunInfo {
    /// What a run is and does, in a build that has the flow's steps for which `has_step` holds.
    fn of(state: &RunState, has_step: impl Fn(&Name) -> bool) -> Self {
        let channels = state.channels.iter().map(|(slot, channel)| ChannelInfo {
            name: slot.to_string(),
            waiting: channel.queue.len(),
            reserved: channel.reserved,
        });
        Self {
            flow_id: state.identity.flow_id.clone(),
            run_id: state.identity.run_id,
            flow: state.identity.flow.clone(),
            status: state.status(),
            started_at: state.identity.started_at,
            closed: state.closed.clone(),
            canceling: state.canceling.is_some(),
            due: state.due(),
            transitions: state.version,
            state_bytes: state.bytes,
            steps: state
                .executions
                .iter()
                .map(|(no, execution)| StepInfo::of(state, *no, execution, &has_step))
                .collect(),
            channels: channels.filter(|channel| channel.waiting + channel.reserved > 0).collect(),
            parent: state
                .identity
                .parent
                .as_ref()
                .map(|parent| ParentInfo { flow_id: parent.flow_id.clone(), run_id: parent.run_id }),
            children: state.children.all.values().map(ChildInfo::of).collect(),
        }
    }
}

impl RunInfo {
    /// What a run is and does in a build with these flows.
    pub(crate) fn in_build(state: &RunState, flows: &Flows) -> Self {
        let flow = flows.get(&state.identity.flow);
        // A flow that is not here is not what its steps stand for.
        Self::of(state, |step| flow.is_none_or(|flow| flow.step(step.as_str()).is_some()))
    }
}

impl StepInfo {
    fn of(
        state: &RunState,
        no: ExecutionNo,
        execution: &Execution,
        has_step: impl Fn(&Name) -> bool,
    ) -> Self {
        let (mut channels, mut children) = (Vec::new(), Vec::new());
        if let Phase::Waiting { condition, .. } = &execution.phase {
            condition.each_channel(&mut |slot| channels.push(slot.to_string()));
            condition.each_child(&mut |index| {
                let child = state.children.all.get(&ChildNo { execution: no, index });
                children.extend(child.map(ChildInfo::of));
            });
        }
        Self {
            id: execution.id(),
            phase: match execution.phase {
                Phase::Ready(_) if !has_step(&execution.step) => StepPhase::Missing,
                Phase::Ready(_) => StepPhase::Running,
                Phase::Blocked => StepPhase::Locked,
                Phase::Waiting { .. } => StepPhase::Waiting,
                Phase::Backoff { .. } => StepPhase::Retrying,
                Phase::Parked(_) => StepPhase::Parked,
            },
            since: execution.since,
            due: execution.due(),
            failures: execution.failures,
            last_failure: execution.last_failure.clone(),
            channels,
            children,
            locks: match execution.phase {
                Phase::Blocked => execution.locks.iter().map(|slot| LockInfo::of(state, slot)).collect(),
                _ => Vec::new(),
            },
            patch: execution.patch.clone(),
        }
    }
}

impl ChildInfo {
    fn of(child: &Child) -> Self {
        let (run_id, phase) = match &child.stage {
            ChildStage::Wanted(_) => (None, ChildPhase::Starting),
            ChildStage::Open(run) => (Some(*run), ChildPhase::Running),
            ChildStage::Ended(_) => (None, ChildPhase::Ended),
        };
        let (flow_id, flow) = (child.flow_id.clone(), child.flow.clone());
        Self { flow_id, flow, run_id, phase, on_parent_end: child.on_parent_end }
    }
}

impl LockInfo {
    fn of(state: &RunState, slot: &Slot) -> Self {
        let holder = state.locks.get(slot).and_then(|holder| state.executions.get(holder));
        Self { name: slot.to_string(), holder: holder.map(|holder| holder.id()) }
    }
}
