//! What generated code names, and nothing else may: semver does not hold here.
//!
//! `dex::__private` re-exports this module.

pub use std::boxed::Box;
pub use std::sync::Arc;
pub use std::time::Duration;

pub use crate::client::RunHandle;
pub use crate::definition::call::{RpcCall, RpcFuture, StepCall, StepFuture, WaitCall, WaitFuture};
pub use crate::definition::contract::{
    Call, Fit, Futures, GivenBy, HasStart, Rpc, RpcReturn, StepReturn, Stored, Takes, WaitReturn, call_rpc,
    dispatch, fits_at,
};
#[cfg(feature = "schemars")]
pub use crate::definition::schema::HasSchema;
pub use crate::definition::schema::{SchemaOf, Types as SchemaTypes};
pub use crate::definition::{
    Attribute, AttributeDefinition, AttributeMap, Channel, ChannelDefinition, ChannelMap, Durability, Edge,
    EdgeKind, Flow, FlowDefinition, FlowSchemas, Indexable, KeyFits, Keyword, OnExhausted, RpcContext,
    RpcDefinition, RpcResult, Step, StepContext, StepDefinition, StepResult, StoredKey, Stream,
    StreamDefinition, WaitContext, WaitDefinition, WaitResult, key_fits_at,
};
pub use crate::engine::RetryPolicy;
pub use crate::error::Result;
pub use crate::value::Payload;
