//! Read-only views of runs, for people and tools.
//!
//! They are made from a run's state and change nothing.

mod explain;
mod info;

pub use self::info::{ChannelInfo, RunInfo, StepInfo, StepPhase};
