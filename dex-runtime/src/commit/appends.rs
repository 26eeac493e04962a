//! Items of streams that wait to be written, and the bound on their bytes.
//!
//! They ask for no sync of their own, unless someone waits for one: the next sync makes them durable. Those
//! that wait are all written with the next batch, so none comes after a commit that was enqueued later.

use std::sync::Arc;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::queue::{Committer, NotTaken};
use crate::store::StreamAppend;

/// A count of items that were enqueued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AppendTicket(pub(super) u64);

/// Room in the queue for one item, until it is dropped.
#[derive(Debug)]
pub(crate) struct Room(#[expect(dead_code, reason = "dropping it is its use")] OwnedSemaphorePermit);

/// The bytes that items may take in the queue.
#[derive(Debug)]
pub(super) struct Rooms {
    free: Arc<Semaphore>,
    max: usize,
}

impl Rooms {
    pub(super) fn new(max: usize) -> Self {
        let max = max.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self { free: Arc::new(Semaphore::new(max)), max }
    }

    /// Lets everyone go who waits for room.
    pub(super) fn close(&self) {
        self.free.close();
    }

    /// What an item of so many bytes takes. One that is larger than the queue takes all of it.
    fn permits(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.clamp(1, self.max)).unwrap_or(u32::MAX)
    }
}

/// Items and what follows them, place by place.
#[derive(Debug)]
pub(super) struct WaitingAppends<B> {
    pub(super) appends: Vec<StreamAppend>,
    pub(super) after: Vec<B>,
    /// Whether someone waits until one of them is on disk.
    pub(super) durable: bool,
}

impl<B> WaitingAppends<B> {
    pub(super) fn new() -> Self {
        Self { appends: Vec::new(), after: Vec::new(), durable: false }
    }

    pub(super) fn clear(&mut self) {
        self.appends.clear();
        self.after.clear();
        self.durable = false;
    }
}

impl<A, B> Committer<A, B> {
    /// Room for an item of so many bytes, if there is any now and nobody waits for it.
    pub(crate) fn try_room(&self, bytes: usize) -> Result<Room, NotTaken> {
        let permits = self.rooms.permits(bytes);
        match Arc::clone(&self.rooms.free).try_acquire_many_owned(permits) {
            Ok(permit) => Ok(Room(permit)),
            Err(TryAcquireError::NoPermits) => {
                Err(NotTaken::NoRoom { waiting: self.rooms.max - self.rooms.free.available_permits() })
            }
            Err(TryAcquireError::Closed) => Err(self.ended()),
        }
    }

    /// Room for an item of so many bytes, as soon as there is any. Whoever asks first gets it first.
    pub(crate) async fn room(&self, bytes: usize) -> Result<Room, NotTaken> {
        let permit = Arc::clone(&self.rooms.free).acquire_many_owned(self.rooms.permits(bytes)).await;
        permit.map(Room).map_err(|_: AcquireError| self.ended())
    }

    /// Enqueues an item. Those of one stream are written in the order of these calls.
    ///
    /// The sink is told once it is written, on disk only if it is to be `durable`.
    pub(crate) fn append(&self, append: StreamAppend, after: B, durable: bool) -> Result<(), NotTaken> {
        let mut queue = self.lock();
        if queue.is_over() {
            drop(queue);
            return Err(self.ended());
        }
        let was_empty = queue.is_empty();
        let waiting = &mut queue.appends;
        waiting.appends.push(append);
        waiting.after.push(after);
        waiting.durable |= durable;
        queue.last_append.0 += 1;
        drop(queue);
        if was_empty {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// The last item that was enqueued.
    pub(crate) fn last_append(&self) -> AppendTicket {
        self.lock().last_append
    }

    /// Waits until all items up to `ticket` are on disk.
    pub(crate) async fn durable_append(&self, ticket: AppendTicket) -> Result<(), NotTaken> {
        self.progress(|now| now.written.append >= ticket).await
    }
}
