//! Read-only views of runs, for people and tools.
//!
//! They are made from a run's state and change nothing.

mod explain;
mod info;
mod tool;

pub use self::info::{
    ChannelInfo, ChildInfo, ChildPhase, LockInfo, ParentInfo, RunInfo, StepInfo, StepPhase,
};
pub use self::tool::Inspect;
pub use crate::store::RunSummary;
