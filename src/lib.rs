//! Durable workflows for Rust, as a library.

#[doc = include_str!("docs/flow.md")]
pub use dex_macros::flow;

#[doc = include_str!("docs/step.md")]
pub use dex_macros::step;

#[doc = include_str!("docs/wait_for.md")]
pub use dex_macros::wait_for;

#[doc = include_str!("docs/attribute.md")]
pub use dex_macros::attribute;

#[doc = include_str!("docs/channel.md")]
pub use dex_macros::channel;

#[doc = include_str!("docs/rpc.md")]
pub use dex_macros::rpc;

#[doc = include_str!("docs/keyword.md")]
pub use dex_macros::Keyword;

pub use dex_runtime::definition::{
    All, Any, Attribute, Channel, Flow, Keyword, Next, OneOf2, OneOf3, OneOf4, RpcContext, RpcError,
    RpcResult, Step, StepContext, StepError, StepResult, Timer, TimerFired, Wait, WaitContext, WaitResult,
};

pub use dex_runtime::Result;

/// What a flow's file needs: `use dex::prelude::*;`.
pub mod prelude;

#[doc(hidden)]
pub use dex_runtime::private as __private;
