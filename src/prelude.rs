//! What a flow's file needs.

pub use dex_macros::{Keyword, attribute, channel, flow, rpc, step, wait_for};
pub use dex_runtime::definition::{
    All, Any, Attribute, Channel, Flow, Keyword, Next, OneOf2, OneOf3, OneOf4, RpcContext, RpcError,
    RpcResult, Step, StepContext, StepError, StepResult, Timer, TimerFired, Wait, WaitContext, WaitResult,
};

pub use dex_runtime::{Client, Dex};
