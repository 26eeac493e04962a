//! Durable workflows for Rust, as a library.
//!
//! A flow is an `impl` block: its steps are ordinary async functions, its state and its queues are typed
//! constants, and [`#[flow]`](macro@flow) checks all of it as a whole. Your process runs it on a store in a
//! folder; what a step decided is on disk before anything follows from it.
//!
//! ```
//! use dex::prelude::*;
//!
//! struct Greeter;
//!
//! #[flow(output = String)]
//! impl Greeter {
//!     #[channel]
//!     const NAME: Channel<String>;
//!
//!     #[step(start)]
//!     async fn ask(&self) -> StepResult<Self> {
//!         Ok(Next::to(Self::GREET, ()))
//!     }
//!
//!     /// The step runs once somebody has said a name, in a second or in a month.
//!     #[wait_for(greet)]
//!     fn a_name(&self) -> WaitResult<Self, String> {
//!         Ok(Wait::one(Self::NAME.one()))
//!     }
//!
//!     #[step]
//!     async fn greet(&self, _input: (), name: String) -> StepResult<Self> {
//!         Ok(Next::complete(format!("Hello, {name}!")))
//!     }
//!
//!     #[rpc]
//!     async fn say(&self, ctx: &mut RpcContext<Self>, name: String) -> RpcResult<()> {
//!         ctx.publish(Self::NAME, name)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> dex::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! let dex = Dex::open(folder.path()).flow(Greeter).start().await?;
//! let run = dex.client::<Greeter>().start("greeting-1", ()).await?;
//! run.say("Ada".into()).await?;
//! assert_eq!(run.output().await?, "Hello, Ada!");
//! # dex.shutdown(std::time::Duration::from_secs(1)).await
//! # }
//! ```
//!
//! # Where to look
//!
//! - Writing a flow: [`#[flow]`](macro@flow), [`#[step]`](macro@step), [`#[wait_for]`](macro@wait_for),
//!   [`#[attribute]`](macro@attribute), [`#[channel]`](macro@channel), [`#[stream]`](macro@stream),
//!   [`#[rpc]`](macro@rpc).
//! - What a step says: [`Next`], with other [`StepOptions`] for one movement. What it waits for: [`Wait`], runs of other flows among it: [`SubFlow`]. What it sees: [`StepContext`], and [which context has what](guide::contexts).
//! - A tour of five minutes: [`guide::tour`]. All pages in reading order: [`guide`].
//! - Running it: [`Dex`], [`Client`], [`RunHandle`], [`Options`]. What can go wrong: [`Error`].
//! - Tools that know flows by name: [`DynClient`]; what a flow says about itself:
//!   [`FlowDefinition`](definition::FlowDefinition), and [`FlowSchemas`](definition::FlowSchemas) for forms.
//! - Testing it in milliseconds: [`testing`].
//! - Why a run does not move: [`RunHandle::describe`] and [`explain`](inspect::RunInfo::explain). What has happened to it: [`RunHandle::history`].
//!
//! # Features
//!
//! - `schemars`: lets flows have the JSON schemas of their values, with [`#[flow(schemas)]`](macro@flow). It brings six
//!   crates, and asks nothing of flows without that option.

// Writing a flow.
#[doc = include_str!("docs/flow.md")]
#[cfg_attr(feature = "schemars", doc = include_str!("docs/schemas.md"))]
pub use dex_macros::flow;

#[doc = include_str!("docs/step.md")]
pub use dex_macros::step;

#[doc = include_str!("docs/wait_for.md")]
pub use dex_macros::wait_for;

#[doc = include_str!("docs/attribute.md")]
pub use dex_macros::attribute;

#[doc = include_str!("docs/channel.md")]
pub use dex_macros::channel;

#[doc = include_str!("docs/stream.md")]
pub use dex_macros::stream;

#[doc = include_str!("docs/rpc.md")]
pub use dex_macros::rpc;

#[doc = include_str!("docs/on_timeout.md")]
pub use dex_macros::on_timeout;

#[doc = include_str!("docs/on_cancel.md")]
pub use dex_macros::on_cancel;

#[doc = include_str!("docs/keyword.md")]
pub use dex_macros::Keyword;

#[doc = include_str!("docs/next.md")]
pub use dex_runtime::definition::Next;

#[doc = include_str!("docs/step_context.md")]
pub use dex_runtime::definition::StepContext;

#[doc = include_str!("docs/wait_context.md")]
pub use dex_runtime::definition::WaitContext;

#[doc = include_str!("docs/rpc_context.md")]
pub use dex_runtime::definition::RpcContext;

/// What a step waits for; all conditions, and how they are joined, are on the page about [waiting](guide::waiting).
///
pub use dex_runtime::definition::Wait;

#[doc = include_str!("docs/timer.md")]
pub use dex_runtime::definition::Timer;

#[doc = include_str!("docs/sub_flow.md")]
pub use dex_runtime::definition::SubFlow;

pub use dex_runtime::definition::{
    All, AllOf, Any, AnyOf, AsKey, Attribute, AttributeEntry, AttributeHandle, AttributeMap, Channel,
    ChannelEntry, ChannelHandle, ChannelMap, Channels, ChildEnd, ChildError, ChildFailure, ChildResult,
    Condition, Flow, IfEmpty, Indexable, Key, Keyword, MapHandle, Messages, OneMessage, OneOf2, OneOf3,
    OneOf4, OneOf5, OneOf6, OneOf7, OneOf8, OneOf9, OneOf10, OneOf11, OneOf12, ParentEnd, RpcError,
    RpcResult, Step, StepError, StepOptions, StepOptionsError, StepResult, StepSource, Stream, StreamError,
    TextWriter, TimerFired, WaitResult,
};
pub use dex_runtime::engine::{Durability, Failure, FailureKind, OnExhausted, Recovery, RetryPolicy};
pub use dex_runtime::{Value, ValueError};

// Running it.
#[doc = include_str!("docs/client.md")]
pub use dex_runtime::Client;

#[doc = include_str!("docs/start.md")]
pub use dex_runtime::Start;

#[doc = include_str!("docs/run_handle.md")]
pub use dex_runtime::RunHandle;

#[doc = include_str!("docs/run_result.md")]
pub use dex_runtime::RunResult;

#[doc = include_str!("docs/dyn_client.md")]
pub use dex_runtime::DynClient;

pub use dex_runtime::engine::{Closing, Limits, Status, Stop};
pub use dex_runtime::{
    Builder, Dex, DynHandle, DynResult, DynRun, DynStart, DynStartCall, Error, ErrorKind, FlowId, History,
    IdError, Name, Options, RepairReport, Reply, Result, Reuse, RunId, StartCall, StreamItem, StreamReader,
    StreamSource, TimeoutPolicy, Timestamp, Waiting,
};

/// The run handle of flow `F`: what `client.start(..).await` gives, with a method for each RPC.
pub type Run<F> = <F as Flow>::Run;

// For tests and tools.
pub use dex_runtime::{definition, inspect};

#[doc = include_str!("docs/testing.md")]
#[doc(inline)]
pub use dex_runtime::testing;

pub mod guide;
pub mod prelude;

#[doc(hidden)]
pub use dex_runtime::private as __private;
