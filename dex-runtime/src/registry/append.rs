//! Appending to a stream of a run.
//!
//! An item changes nothing of the run's state, so it is no command and leaves no event. It is enqueued under the
//! run's lock all the same: whether it is allowed, and whether it comes before the run's end, is decided there.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::resident::Resident;
use super::writer::{Refused, Writer};
use crate::activity::Busy;
use crate::commit::Room;
use crate::engine::{Rejection, RunState};
use crate::ids::RunId;
use crate::store::{StoreError, StreamAppend, StreamNames};

/// An item that is to be appended.
#[derive(Debug)]
pub(crate) struct NewItem {
    pub(crate) stream: StreamNames,
    /// Bytes that the stream may hold.
    pub(crate) capacity: u64,
    /// The encoded item.
    pub(crate) record: bytes::Bytes,
}

/// What follows once an item is written.
#[derive(Debug)]
pub(crate) struct Appended {
    pub(crate) run: RunId,
    /// Hears which offset the item got, once it is on disk.
    pub(crate) reply: Option<AppendReply>,
    /// What it takes in the queue.
    pub(crate) room: Room,
    /// The engine is busy until those who read the stream were woken.
    pub(crate) busy: Busy,
}

/// Tells a caller what became of an item.
pub(crate) type AppendReply = oneshot::Sender<Result<u64, StoreError>>;

impl Writer {
    /// Enqueues an item if `allowed` says so of the run's newest state.
    ///
    /// Without a reply it is written as soon as may be and on disk with the next sync; with one there is a sync.
    pub(crate) fn append(
        &self,
        run: &Arc<Resident>,
        item: NewItem,
        room: Room,
        reply: Option<AppendReply>,
        allowed: impl FnOnce(&RunState) -> Result<(), Rejection>,
    ) -> Result<(), Refused> {
        let run_id = run.identity().run_id;
        let NewItem { stream, capacity, record } = item;
        let append = StreamAppend { run: run_id, stream, epoch: self.epoch, capacity, record };
        let durable = reply.is_some();
        let after = Appended { run: run_id, reply, room, busy: self.activity.begin() };
        let (enqueued, _) = run.read(|state| {
            allowed(state).map_err(Refused::Rejected)?;
            Ok(self.committer.append(append, after, durable)?)
        })?;
        enqueued
    }
}
