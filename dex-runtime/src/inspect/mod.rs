//! Read-only views of runs, for people and tools.
//!
//! They are made from a run's state, or from its events, and change nothing.

mod explain;
mod history;
mod info;
mod tool;

pub(crate) use self::history::Teller;
pub use self::history::{HistoryEntry, HistoryEvent};
pub use self::info::{
    ChannelInfo, ChildInfo, ChildPhase, LockInfo, ParentInfo, RunInfo, StepInfo, StepPhase,
};
pub use self::tool::Inspect;
pub use crate::store::RunSummary;
