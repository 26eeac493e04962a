//! What a step appended to streams, for a test to look at.

use std::sync::{Mutex, PoisonError};

use super::staged::decode;
use crate::definition::call::CallFuture;
use crate::definition::{Outlet, Room, StepContext, StepError, Stream, StreamError, StreamKey};
use crate::store::record::{ItemOrigin, largest_item};
use crate::value::{Payload, Value};

/// Keeps what is appended, in order.
#[derive(Debug)]
pub(super) struct Kept {
    origin: ItemOrigin,
    items: Mutex<Vec<(&'static str, Payload)>>,
}

impl Kept {
    pub(super) fn new(origin: ItemOrigin) -> Self {
        Self { origin, items: Mutex::default() }
    }

    fn of(&self, stream: StreamKey) -> Vec<Payload> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items.iter().filter(|(name, _)| *name == stream.name).map(|(_, item)| item.clone()).collect()
    }
}

impl Outlet for Kept {
    fn append(&self, stream: StreamKey, value: Payload, _room: Option<Room>) -> Result<(), StreamError> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).push((stream.name, value));
        Ok(())
    }

    fn room(&self, _stream: StreamKey, _bytes: usize) -> CallFuture<Result<Room, StreamError>> {
        Box::pin(std::future::ready(Ok(Box::new(()) as Room)))
    }

    fn largest(&self, stream: StreamKey) -> usize {
        largest_item(stream.capacity, &self.origin)
    }

    fn keep(&self, _checkpoint: Payload) -> Result<(), StepError> {
        Ok(())
    }
}

impl<F> StepContext<F> {
    /// What the step appended to the stream, in order, for a unit test. Text that would be written at the end of the
    /// attempt is the last item.
    ///
    /// # Panics
    ///
    /// If an item does not read back as its own type.
    pub fn appended<T: Value>(&self, stream: Stream<F, T>) -> Vec<T> {
        let kept = self.streams().outlet().downcast_ref::<Kept>();
        let kept = kept.map(|kept| kept.of(stream.key())).unwrap_or_default();
        kept.into_iter().chain(self.streams().pending(stream.key())).map(|item| decode(&item)).collect()
    }
}
