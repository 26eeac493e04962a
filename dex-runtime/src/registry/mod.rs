//! Runs in memory: one writer per run, and the table of the runs that are resident.
//!
//! [`Resident`] is a run in memory, and [`Writer`] turns commands into its commits, one after the other.
//! [`Registry`] says which runs are resident and which run of a flow id is the live one. Both are caches of
//! the store. They know the engine's rules only as [`transition`](crate::engine::transition), and hand commits
//! and effects to the sink that they were given, so they know nothing of the store's keys, of tasks or of
//! callers.

mod append;
mod calls;
mod resident;
mod table;
mod writer;

pub(crate) use self::append::{Appended, NewItem};
pub(crate) use self::resident::{After, Reply, Resident, Wanted};
pub(crate) use self::table::{Poisoned, Registry};
pub(crate) use self::writer::{Refused, Submit, Submitted, Writer};
