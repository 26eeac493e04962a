//! The engine of dex: the rules of a run, its store, and the runtime that carries them out.
//!
//! Applications use the `dex` crate, whose macros write most of what this crate asks for.

pub mod client;
pub mod definition;
pub mod engine;
pub mod store;

#[doc(hidden)]
pub mod private;

mod error;
mod ids;
mod time;
mod value;

pub use self::error::{Error, Result};
pub use self::ids::{Attempt, Epoch, ExecutionNo, FlowId, IdError, MapKey, Name, RunId, Slot};
pub use self::time::{Clock, Sleep, SystemClock, Timestamp};
pub use self::value::{Payload, Value, ValueError};
