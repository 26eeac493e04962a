//! The engine of dex: the rules of a run, its store, and the runtime that carries them out.
//!
//! Applications use the `dex` crate, whose macros write most of what this crate asks for.

pub mod client;
pub mod definition;
pub mod engine;
pub mod inspect;
pub mod store;
pub mod testing;

#[doc(hidden)]
pub mod private;

mod activity;
mod commit;
mod dex;
mod dispatch;
mod errand;
mod error;
mod ids;
mod options;
mod registry;
mod shard;
mod signal;
mod suggest;
mod time;
mod value;
mod worker;

pub use self::client::{
    Client, DynClient, DynHandle, DynResult, DynRun, DynStart, DynStartCall, History, Reply, Reuse,
    RunHandle, RunResult, Start, StartCall, StreamItem, StreamReader, StreamSource, TimeoutPolicy, Waiting,
};
pub use self::dex::{Builder, Dex};
pub use self::error::{Error, ErrorKind, Result};
pub use self::ids::{
    Attempt, Epoch, ExecutionNo, FLOW_ID_BYTES_MAX, FlowId, IdError, MAP_KEY_BYTES_MAX, MapKey,
    NAME_BYTES_MAX, Name, Renamed, RunId, Slot,
};
pub use self::options::Options;
pub use self::store::fjall::RepairReport;
pub use self::time::{Clock, Sleep, SystemClock, Timestamp};
pub use self::value::{Payload, VALUE_BYTES_MAX, Value, ValueError};
