//! Runs in memory: one writer per run, and the table of the runs that are resident.
//!
//! [`Resident`] is a run in memory with its one writer. [`Registry`] says which runs are resident and
//! which run of a flow id is the live one. Both are caches of the store. They know the engine's rules
//! only as [`transition`](crate::engine::transition), and hand commits and effects to the sink that they
//! were given, so they know nothing of the store's keys, of tasks or of callers.

mod append;
mod calls;
mod resident;
mod table;

pub(crate) use self::append::{Appended, NewItem};
pub(crate) use self::resident::{After, Refused, Reply, Resident, Submit, Submitted, Wanted, Writer};
pub(crate) use self::table::{Poisoned, Registry};
