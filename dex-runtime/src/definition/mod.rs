//! What an application writes: flows, their handles, decisions, waits and contexts.
//!
//! Everything here is typed by the user's flow and by the user's values. It turns into the engine's
//! untyped words at one border: a handler call ([`call`]) takes encoded values in and gives a decision,
//! a condition or an answer out. It knows nothing of stores, tasks or other runs.

mod access;
pub mod call;
mod context;
pub mod contract;
mod describe;
mod diagram;
mod entry;
mod error;
mod flow;
mod handle;
mod if_empty;
mod indexable;
mod key;
mod members;
mod next;
mod one_of;
mod options;
mod registered;
pub mod schema;
mod stream;
mod sub_flow;
mod sub_flow_result;
mod take;
mod tuples;
mod wait;

pub use self::access::{AttributeHandle, ChannelHandle, MapHandle};
pub(crate) use self::context::{CallInfo, Core, Live, Outlet, Room, StepInfo, Streams, WaitInfo};
pub use self::context::{RpcContext, StepContext, StepSource, TextWriter, WaitContext};
pub use self::describe::{
    AttributeDefinition, ChannelDefinition, Edge, EdgeKind, FlowDefinition, RpcDefinition, StepDefinition,
    StreamDefinition, WaitDefinition,
};
pub use self::entry::{AttributeEntry, ChannelEntry};
pub(crate) use self::error::cut;
pub use self::error::{RpcError, RpcResult, StepError, StepResult, WaitResult};
pub use self::flow::{Flow, InputIs, Keyword};
pub(crate) use self::handle::stored;
pub use self::handle::{Attribute, AttributeMap, Channel, ChannelMap, Step};
pub use self::if_empty::{Channels, IfEmpty};
pub use self::indexable::Indexable;
pub(crate) use self::key::typed_keys;
pub use self::key::{AsKey, Key, KeyFits, StoredKey, key_fits_at};
pub(crate) use self::members::MemberKind;
pub(crate) use self::next::{Cancel, Choice, Goal};
pub use self::next::{Next, OutputIs};
pub use self::one_of::{
    OneOf2, OneOf3, OneOf4, OneOf5, OneOf6, OneOf7, OneOf8, OneOf9, OneOf10, OneOf11, OneOf12,
};
pub(crate) use self::options::{Effective, End, Given};
pub use self::options::{StepOptions, StepOptionsError};
pub(crate) use self::registered::{Flows, Place, Registered, StepInput};
pub use self::schema::{FlowSchemas, RpcSchemas, StepSchemas, ValueSchema};
pub(crate) use self::stream::StreamKey;
pub use self::stream::{Stream, StreamError};
pub use self::sub_flow::SubFlow;
pub use self::sub_flow_result::{ChildEnd, ChildError, ChildFailure, ChildResult};
pub(crate) use self::sub_flow_result::{child_does_not_fit, child_not_started, child_result};
pub use self::take::{Messages, OneMessage};
pub use self::wait::{All, AllOf, Any, AnyOf, Condition, Timer, TimerFired, Wait};
pub(crate) use self::wait::{Part, PartKind};
pub use crate::engine::{Durability, OnExhausted, ParentEnd};
