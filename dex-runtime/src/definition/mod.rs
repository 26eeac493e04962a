//! What an application writes: flows, their handles, decisions, waits and contexts.
//!
//! Everything here is typed by the user's flow and by the user's values. It turns into the engine's
//! untyped words at one border: a handler call ([`call`]) takes encoded values in and gives a decision,
//! a condition or an answer out. It knows nothing of stores, tasks or other runs.

pub mod call;
mod context;
pub mod contract;
mod describe;
mod diagram;
mod error;
mod flow;
mod handle;
mod if_empty;
mod indexable;
mod members;
mod next;
mod registered;
mod wait;

pub(crate) use self::context::{Core, Keep, Live, Pulse, StepInfo};
pub use self::context::{RpcContext, StepContext, WaitContext};
pub use self::describe::{
    AttributeDefinition, ChannelDefinition, Durability, Edge, EdgeKind, FlowDefinition, OnExhausted,
    RpcDefinition, StepDefinition, WaitDefinition,
};
pub(crate) use self::error::cut;
pub use self::error::{RpcError, RpcResult, StepError, StepResult, WaitResult};
pub use self::flow::{Flow, InputIs, Keyword};
pub use self::handle::{Attribute, Channel, Step};
pub use self::if_empty::{Channels, IfEmpty};
pub use self::indexable::Indexable;
pub(crate) use self::members::MemberKind;
pub(crate) use self::next::{Cancel, Choice};
pub use self::next::{Next, OutputIs};
pub(crate) use self::registered::{Flows, Place, Registered, StepInput};
pub use self::wait::{
    All, AllOf, Any, AnyOf, Condition, Messages, OneMessage, OneOf2, OneOf3, OneOf4, OneOf5, OneOf6, OneOf7,
    OneOf8, OneOf9, OneOf10, OneOf11, OneOf12, Timer, TimerFired, Wait,
};
pub(crate) use self::wait::{Part, PartKind};
