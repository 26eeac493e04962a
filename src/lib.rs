//! Durable workflows for Rust, as a library.

pub use dex_macros::{Keyword, attribute, channel, flow, rpc, step, wait_for};
pub use dex_runtime::definition::{
    All, Any, Attribute, Channel, Flow, Keyword, Next, OneOf2, OneOf3, OneOf4, RpcContext, RpcError,
    RpcResult, Step, StepContext, StepError, StepResult, Timer, TimerFired, Wait, WaitContext, WaitResult,
};

/// What a flow's file needs: `use dex::prelude::*;`.
pub mod prelude;

pub use dex_runtime::engine::{Closing, Failure, FailureKind, Recovery, RetryPolicy, Status, Stop};
pub use dex_runtime::{
    Builder, Client, Dex, Error, ErrorKind, FlowId, IdError, Options, RunHandle, RunId, RunResult, Timestamp,
};
pub use dex_runtime::{Result, Value};
pub use dex_runtime::{definition, inspect, testing};

/// The run handle of flow `F`: what `client.start(..)` gives.
pub type Run<F> = <F as Flow>::Run;

#[doc(hidden)]
pub use dex_runtime::private as __private;
