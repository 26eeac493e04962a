//! What an event is called, and which step execution it is about.

use super::event::Event;
use crate::ids::ExecutionNo;

impl Event {
    /// The event's name, for logs, errors and lists.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "RunStarted",
            Self::AttributeSet { .. } => "AttributeSet",
            Self::AttributeDeleted { .. } => "AttributeDeleted",
            Self::MessagePublished { .. } => "MessagePublished",
            Self::MessageDeleted { .. } => "MessageDeleted",
            Self::Noted { .. } => "Noted",
            Self::ChannelForgotten { .. } => "ChannelForgotten",
            Self::RpcApplied { .. } => "RpcApplied",
            Self::StepScheduled { .. } => "StepScheduled",
            Self::ChildRequested { .. } => "ChildRequested",
            Self::ChildStarted { .. } => "ChildStarted",
            Self::ChildEnded { .. } => "ChildEnded",
            Self::ChildStopped { .. } => "ChildStopped",
            Self::ParentTold => "ParentTold",
            Self::WaitStarted { .. } => "WaitStarted",
            Self::TimerFired { .. } => "TimerFired",
            Self::WaitMet { .. } => "WaitMet",
            Self::AttemptFailed { .. } => "AttemptFailed",
            Self::RetryStarted { .. } => "RetryStarted",
            Self::StepParked { .. } => "StepParked",
            Self::StepResumed { .. } => "StepResumed",
            Self::StepSkipped { .. } => "StepSkipped",
            Self::StepCompleted { .. } => "StepCompleted",
            Self::StepFailed { .. } => "StepFailed",
            Self::StepCanceled { .. } => "StepCanceled",
            Self::LocksTaken { .. } => "LocksTaken",
            Self::CheckpointStored { .. } => "CheckpointStored",
            Self::HandedOut { .. } => "HandedOut",
            Self::TimeoutReached => "TimeoutReached",
            Self::CancelRequested { .. } => "CancelRequested",
            Self::GraceEnded => "GraceEnded",
            Self::RunPaused => "RunPaused",
            Self::RunResumed => "RunResumed",
            Self::RequestAnswered { .. } => "RequestAnswered",
            Self::OutputProduced { .. } => "OutputProduced",
            Self::RunClosed { .. } => "RunClosed",
        }
    }

    /// The step execution that the event is about, if it is about one. Children outlive the execution that
    /// asked for them, and are not part of it.
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
            | Self::StepSkipped { execution }
            | Self::StepCompleted { execution }
            | Self::StepFailed { execution, .. }
            | Self::StepCanceled { execution }
            | Self::LocksTaken { execution }
            | Self::CheckpointStored { execution, .. }
            | Self::HandedOut { execution, .. } => Some(*execution),
            Self::Noted { execution, .. } => *execution,
            Self::RunStarted { .. }
            | Self::ChildRequested { .. }
            | Self::ChildStarted { .. }
            | Self::ChildEnded { .. }
            | Self::ChildStopped { .. }
            | Self::ParentTold
            | Self::AttributeSet { .. }
            | Self::AttributeDeleted { .. }
            | Self::MessagePublished { .. }
            | Self::MessageDeleted { .. }
            | Self::ChannelForgotten { .. }
            | Self::RpcApplied { .. }
            | Self::TimeoutReached
            | Self::CancelRequested { .. }
            | Self::GraceEnded
            | Self::RunPaused
            | Self::RunResumed
            | Self::RequestAnswered { .. }
            | Self::OutputProduced { .. }
            | Self::RunClosed { .. } => None,
        }
    }
}
