//! Durable workflows for Rust, as a library.

pub use dex_macros::{Keyword, attribute, channel, flow, rpc, step, wait_for};
pub use dex_runtime::Result;
pub use dex_runtime::definition::{
    All, Any, Attribute, Channel, Flow, Keyword, Next, OneOf2, OneOf3, OneOf4, RpcContext, RpcError,
    RpcResult, Step, StepContext, StepError, StepResult, Timer, TimerFired, Wait, WaitContext, WaitResult,
};
pub use dex_runtime::{FlowId, IdError};

/// What a flow's file needs: `use dex::prelude::*;`.
pub mod prelude;

#[doc(hidden)]
pub use dex_runtime::private as __private;
