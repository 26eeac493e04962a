//! Contexts: what a handler can see of its run and do to it.
//!
//! Three types, so that each has only what means something there. Writes are staged: the handler sees
//! them at once, everyone else when the handler's outcome is committed, and nobody if it fails.

mod call;
mod core;
mod live;
mod reading;
mod rpc;
mod step;
mod stream;
mod wait;

pub(crate) use self::call::CallInfo;
pub use self::call::StepSource;
pub(crate) use self::core::Core;
pub(crate) use self::live::Live;
pub use self::rpc::RpcContext;
pub use self::step::StepContext;
pub(crate) use self::step::StepInfo;
pub use self::stream::TextWriter;
pub(crate) use self::stream::{Outlet, Room, Streams};
pub use self::wait::WaitContext;
pub(crate) use self::wait::WaitInfo;
