//! What a flow's file needs: `use dex::prelude::*;`.

pub use dex_macros::{Keyword, attribute, channel, flow, on_cancel, on_timeout, rpc, step, stream, wait_for};
pub use dex_runtime::definition::{
    All, Any, Attribute, AttributeMap, Channel, ChannelMap, ChildEnd, ChildResult, Flow, Keyword, Next,
    OneOf2, OneOf3, OneOf4, OneOf5, OneOf6, OneOf7, OneOf8, OneOf9, OneOf10, OneOf11, OneOf12, RpcContext,
    RpcError, RpcResult, Step, StepContext, StepError, StepOptions, StepResult, Stream, SubFlow, Timer,
    TimerFired, Wait, WaitContext, WaitResult,
};
pub use dex_runtime::{Client, Dex};
