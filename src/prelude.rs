//! What a flow's file needs: `use dex::prelude::*;`.

pub use dex_macros::{Keyword, attribute, channel, flow, on_cancel, on_timeout, rpc, step, wait_for};
pub use dex_runtime::definition::{
    All, Any, Attribute, AttributeMap, Channel, ChannelMap, Flow, Keyword, Next, OneOf2, OneOf3, OneOf4,
    OneOf5, OneOf6, OneOf7, OneOf8, OneOf9, OneOf10, OneOf11, OneOf12, RpcContext, RpcError, RpcResult, Step,
    StepContext, StepError, StepResult, Timer, TimerFired, Wait, WaitContext, WaitResult,
};
pub use dex_runtime::{Client, Dex};
