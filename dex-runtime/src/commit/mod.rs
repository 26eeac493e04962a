//! Makes transitions and items of streams durable: all that wait at the same time in one batch with one sync.
//!
//! One thread owns the write path. There is no timer: while one batch is being synced the next one
//! gathers, so a lone run pays one sync and many runs share it. What has to happen after a commit is
//! handed to a [`Sink`] in the order of the queue. It knows records and stores; it knows nothing of what
//! the commits mean.

mod appends;
mod chunks;
mod queue;
mod thread;

#[cfg(test)]
mod tests;

pub(crate) use self::appends::Room;
pub(crate) use self::queue::{Committer, NotTaken, Ticket};
pub(crate) use self::thread::{SYNC_AFTER, Sink, spawn};
