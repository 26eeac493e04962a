//! What makes a type a flow.

use std::sync::Arc;

use super::call::{RpcCall, RpcFuture, StepCall, StepFuture, WaitCall, WaitFuture};
use super::contract::{Fit, fits_at};
use super::describe::FlowDefinition;
use super::schema::FlowSchemas;
use crate::client::RunHandle;
use crate::value::{Payload, Value, ValueError};

/// A durable workflow. `#[dex::flow]` on an `impl` block writes this implementation.
///
/// One value of the type serves all runs at once; its fields are ordinary dependencies and are not durable.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    label = "not a flow",
    note = "put `#[dex::flow]` on an `impl {Self}` block with at least one `#[step]` method"
)]
pub trait Flow: Sized + Send + Sync + 'static {
    /// What a run is started with: the start step's input, or `()` for a flow without a start step.
    type Input: Value;

    /// What a run completes with.
    type Output: Value;

    /// The flow's own run handle, with a method for each RPC.
    type Run: From<RunHandle<Self>> + Send + Sync + 'static;

    /// The static description: names, options, the step graph.
    fn definition() -> &'static FlowDefinition;

    /// The JSON schemas of the flow's values. `None` unless the flow asks for them with `#[flow(schemas)]`, which
    /// needs the feature `schemars`.
    ///
    /// They are made anew by each call.
    fn schemas() -> Option<FlowSchemas> {
        None
    }

    /// Calls the step at this place in the definition.
    #[doc(hidden)]
    fn call_step(self: Arc<Self>, step: usize, call: StepCall<Self>) -> StepFuture;

    /// Calls the `wait_for` of the step at this place in the definition.
    #[doc(hidden)]
    fn call_wait(self: Arc<Self>, step: usize, call: WaitCall<Self>) -> WaitFuture;

    /// Calls the RPC at this place in the definition.
    #[doc(hidden)]
    fn call_rpc(self: Arc<Self>, rpc: usize, call: RpcCall<Self>) -> RpcFuture;

    /// Whether the attribute at this place in the definition can hold this value.
    #[doc(hidden)]
    fn fits_attribute(attribute: usize, value: &Payload) -> Fit;

    /// Whether the channel at this place in the definition can hold this message.
    #[doc(hidden)]
    fn fits_channel(channel: usize, message: &Payload) -> Fit;

    /// Whether the stream at this place in the definition can hold this item.
    #[doc(hidden)]
    fn fits_stream(stream: usize, item: &Payload) -> Fit {
        fits_at(&[], stream, item)
    }

    /// Whether the attribute map at this place in the definition has such keys; `None` if it is no map.
    #[doc(hidden)]
    fn fits_attribute_key(attribute: usize, key: &str) -> Option<bool> {
        let _ = (attribute, key);
        None
    }

    /// Whether the channel map at this place in the definition has such keys; `None` if it is no map.
    #[doc(hidden)]
    fn fits_channel_key(channel: usize, key: &str) -> Option<bool> {
        let _ = (channel, key);
        None
    }
}

/// What a flow is started with, which is `I`.
///
/// Any type is what it is and nothing else; asking it this way has a wrong one told at the value, in these words.
#[diagnostic::on_unimplemented(
    message = "this flow is started with `{Self}`, not with `{I}`",
    label = "not a `{Self}`",
    note = "a flow is started with the input of its `#[step(start)]` method, or with `()` if it has no such step"
)]
pub trait InputIs<I> {
    /// The encoded input.
    #[doc(hidden)]
    fn encode(input: &I) -> Result<Payload, ValueError>;
}

#[diagnostic::do_not_recommend]
impl<I: Value> InputIs<I> for I {
    fn encode(input: &I) -> Result<Payload, ValueError> {
        Payload::encode(input).map_err(|error| error.of("the input for the start step"))
    }
}

/// Leaves open with what a flow that is started with `()` is started: the compiler then judges what it was given by
/// the words above, where it would otherwise only say that the type is another one.
#[derive(Debug)]
#[doc(hidden)]
pub enum Undecided {}

/// The type `()`.
#[doc(hidden)]
pub trait IsUnit {}

impl IsUnit for () {}

#[diagnostic::do_not_recommend]
impl<T: IsUnit> InputIs<Undecided> for T {
    fn encode(input: &Undecided) -> Result<Payload, ValueError> {
        match *input {}
    }
}

/// An enum of unit variants that can be indexed by its variants' names. Derive it.
pub trait Keyword {
    /// The name of the value's variant.
    fn keyword(&self) -> &'static str;

    /// The value whose variant has this name.
    fn from_keyword(keyword: &str) -> Option<Self>
    where
        Self: Sized;
}
