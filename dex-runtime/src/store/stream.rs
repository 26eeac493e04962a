//! Streams, as stores keep them: what is appended and read, and what a stream gives up for its capacity.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::ids::{Epoch, Name, RunId};

/// Bytes that an item counts beside its record: its key, and what a store keeps for each row.
///
/// Without it a stream of empty items would have no bound that means anything.
const ITEM_EXTRA_BYTES: u64 = 64;

/// One item at the end of a run's stream. The store gives it its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamAppend {
    /// The run.
    pub run: RunId,
    /// Which stream of the run.
    pub stream: StreamNames,
    /// The opening under which it was made.
    pub epoch: Epoch,
    /// Bytes that the stream may hold after this item, as [`item_bytes`] counts them. The oldest items go for it,
    /// but never this one.
    pub capacity: u64,
    /// The item: from [`record::encode_item`](super::record::encode_item).
    pub record: Bytes,
}

/// The stored name of a stream, and those that it had before.
///
/// A run whose stream has items under a former name goes on with them under that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamNames(Arc<[Name]>);

impl StreamNames {
    /// The names of a stream: `name` now, `former` before.
    pub fn new(name: Name, former: impl IntoIterator<Item = Name>) -> Self {
        Self(std::iter::once(name).chain(former).collect())
    }

    /// The stored name.
    #[expect(clippy::missing_panics_doc, reason = "it is made with a name")]
    pub fn name(&self) -> &Name {
        self.0.first().expect("it is made with a name")
    }

    /// All names, the one of now first.
    pub fn all(&self) -> &[Name] {
        &self.0
    }
}

/// An item as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredItem {
    /// Its place in the stream, from 1. No other item of the stream ever has it.
    pub offset: u64,
    /// Its bytes.
    pub record: Bytes,
}

/// Which items of a stream are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamQuery {
    /// From where, and in which direction.
    pub from: StreamFrom,
    /// How many at most.
    pub items_max: usize,
    /// No more are read once their records have so many bytes.
    pub bytes_max: usize,
}

/// From where a stream is read. Items that are gone are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFrom {
    /// Oldest first, from behind this offset; 0 is before all.
    After(u64),
    /// Newest first, from before this offset; `u64::MAX` is behind all.
    Before(u64),
}

/// What a stream holds: the low-water mark that spares readers the keys of items that are gone, and the
/// offset that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamHead {
    /// The oldest item that is kept.
    pub first: u64,
    /// The offset of the next item.
    pub next: u64,
    /// Bytes of the items that are kept, as [`item_bytes`] counts them.
    pub bytes: u64,
}

/// Bytes that an item with a record of this length counts.
pub const fn item_bytes(record: usize) -> u64 {
    record as u64 + ITEM_EXTRA_BYTES
}

impl StreamHead {
    /// A stream without an item.
    pub const EMPTY: Self = Self { first: 1, next: 1, bytes: 0 };

    /// Adds an item and gives its offset.
    pub(super) fn push(&mut self, record: &Bytes) -> u64 {
        let offset = self.next;
        self.next = offset.saturating_add(1);
        self.bytes = self.bytes.saturating_add(item_bytes(record.len()));
        offset
    }

    /// The oldest item, if the stream has to give one up for `capacity`. The newest one stays.
    pub(super) fn surplus(&self, capacity: u64) -> Option<u64> {
        (self.bytes > capacity && self.first.saturating_add(1) < self.next).then_some(self.first)
    }

    /// Gives up the oldest item, whose record has this length.
    pub(super) fn pop(&mut self, record: usize) {
        self.first = self.first.saturating_add(1);
        self.bytes = self.bytes.saturating_sub(item_bytes(record));
    }

    /// The offsets to look at for what is asked, as far as the stream has them.
    pub(super) fn range(&self, from: StreamFrom) -> Range<u64> {
        match from {
            StreamFrom::After(after) => self.first.max(after.saturating_add(1))..self.next,
            StreamFrom::Before(before) => self.first..self.next.min(before),
        }
    }
}

impl StreamQuery {
    /// Collects what is asked for from `items`, which come in the right order.
    pub(super) fn collect<E>(
        &self,
        items: impl Iterator<Item = Result<StoredItem, E>>,
    ) -> Result<Vec<StoredItem>, E> {
        let mut bytes = 0;
        let mut found = Vec::new();
        for item in items.take(self.items_max) {
            let item = item?;
            bytes += item.record.len();
            found.push(item);
            if bytes >= self.bytes_max {
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_gives_up_its_oldest_items_and_never_its_last() {
        let record = Bytes::from_static(&[0; 36]);
        let mut head = StreamHead::EMPTY;
        assert_eq!((head.push(&record), head.push(&record), head.push(&record)), (1, 2, 3));
        assert_eq!(head.surplus(300), None);
        assert_eq!(head.surplus(299), Some(1));
        head.pop(record.len());
        head.pop(record.len());
        assert_eq!(head, StreamHead { first: 3, next: 4, bytes: 100 });
        assert_eq!(head.surplus(1), None);
    }

    #[test]
    fn what_is_gone_is_not_looked_at() {
        let head = StreamHead { first: 5, next: 9, bytes: 1 };
        assert_eq!(head.range(StreamFrom::After(0)), 5..9);
        assert_eq!(head.range(StreamFrom::After(6)), 7..9);
        assert!(head.range(StreamFrom::After(u64::MAX)).is_empty());
        assert_eq!(head.range(StreamFrom::Before(u64::MAX)), 5..9);
        assert_eq!(head.range(StreamFrom::Before(7)), 5..7);
        assert!(head.range(StreamFrom::Before(0)).is_empty());
    }
}
