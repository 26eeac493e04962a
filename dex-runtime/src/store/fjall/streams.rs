//! Appending to streams: the offset of each item, and the oldest items that go for it.
//!
//! The head of a stream is one row. It says where the items begin, so that nothing ever scans over those
//! that are gone.

use std::collections::BTreeMap;

use bytes::Bytes;
use fjall::{Iter, OwnedWriteBatch};

use super::super::{StoreError, StreamAppend, StreamHead, StreamNames, keys, record};
use super::keyspaces::{Keyspaces, read_error};
use super::read::View;
use super::recent::Recent;
use crate::ids::{Name, RunId};

/// Heads in each of the two generations that are known without a look-up: about 2 MiB in all. More streams
/// than these are seldom written at the same time.
const HEADS_MAX: usize = 8 * 1024;

/// The heads of streams that were written lately, under the names of now.
#[derive(Debug)]
pub(super) struct Heads(Recent<(RunId, Name), Known>);

/// Where a stream is, and what it holds.
#[derive(Clone, Debug)]
struct Known {
    /// The key of its head.
    key: Vec<u8>,
    head: StreamHead,
}

/// What a batch does to the streams that it touches.
pub(super) struct Appends {
    streams: BTreeMap<(RunId, Name), Changed>,
    pub(super) offsets: Vec<u64>,
    pub(super) bytes: u64,
}

struct Changed {
    known: Known,
    /// The head before the batch.
    before: StreamHead,
    new: Vec<Bytes>,
    /// The stored items from the oldest on, once one of them has to go.
    oldest: Option<Iter>,
}

impl Heads {
    pub(super) fn new() -> Self {
        Self(Recent::new(HEADS_MAX))
    }

    /// Works out what `appends` change.
    pub(super) fn plan(&self, view: &View<'_>, appends: &[StreamAppend]) -> Result<Appends, StoreError> {
        let mut plan = Appends { streams: BTreeMap::new(), offsets: Vec::new(), bytes: 0 };
        for append in appends {
            let place = (append.run, append.stream.name().clone());
            let changed = match plan.streams.entry(place) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(unknown) => {
                    let known = match self.0.get(unknown.key()) {
                        Some(known) => known.clone(),
                        None => find(view, append.run, &append.stream)?,
                    };
                    unknown.insert(Changed::new(known))
                }
            };
            plan.offsets.push(changed.append(view, append)?);
            plan.bytes += append.record.len() as u64;
        }
        Ok(plan)
    }

    /// Notes what was written.
    pub(super) fn wrote(&mut self, plan: Appends) {
        for (place, changed) in plan.streams {
            self.0.set(place, changed.known);
        }
    }
}

/// The stream as it is stored, under the first of its names that has one.
fn find(view: &View<'_>, run: RunId, names: &StreamNames) -> Result<Known, StoreError> {
    let found = view.stream_head(run, names)?;
    let new = || (keys::stream_head(run, names.name()), StreamHead::EMPTY);
    let (key, head) = found.unwrap_or_else(new);
    Ok(Known { key, head })
}

impl Changed {
    fn new(known: Known) -> Self {
        Self { before: known.head, known, new: Vec::new(), oldest: None }
    }

    fn append(&mut self, view: &View<'_>, append: &StreamAppend) -> Result<u64, StoreError> {
        let offset = self.known.head.push(&append.record);
        self.new.push(append.record.clone());
        while let Some(oldest) = self.known.head.surplus(append.capacity) {
            let length = self.length(view, oldest)?;
            self.known.head.pop(length);
        }
        Ok(offset)
    }

    /// Length of the record of the oldest item.
    fn length(&mut self, view: &View<'_>, oldest: u64) -> Result<usize, StoreError> {
        if let Some(place) = oldest.checked_sub(self.before.next) {
            let new = usize::try_from(place).ok().and_then(|place| self.new.get(place));
            return Ok(new.map_or(0, Bytes::len));
        }
        let stored = self
            .oldest
            .get_or_insert_with(|| view.stream_items(&self.known.key, self.before.first..self.before.next));
        // An item that is missing counts nothing: there is nothing of it to be removed either.
        stored.next().map_or(Ok(0), |row| row.value().map(|value| value.len()).map_err(|e| read_error(&e)))
    }
}

impl Appends {
    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Puts the changes into a batch. Each key is there once: an item that comes and goes in one batch never
    /// gets there.
    pub(super) fn fill(&self, batch: &mut OwnedWriteBatch, keyspaces: &Keyspaces) {
        let streams = &keyspaces.streams;
        for Changed { known: Known { key, head }, before, new, .. } in self.streams.values() {
            for offset in before.first..head.first.min(before.next) {
                batch.remove(streams, keys::stream_item(key, offset));
            }
            for (offset, record) in (before.next..).zip(new).filter(|(offset, _)| *offset >= head.first) {
                batch.insert(streams, keys::stream_item(key, offset), &record[..]);
            }
            batch.insert(streams, &key[..], &record::encode_head(head)[..]);
        }
    }
}
