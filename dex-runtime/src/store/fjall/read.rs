//! The questions that a store answers, each one look-up or one scan.

use std::ops::{Bound, Range};

use bytes::Bytes;
use fjall::{Database, Guard, Iter, Keyspace, Readable, Slice, Snapshot};

use super::super::{
    Due, LiveRun, RunSummary, StoreError, StoredItem, StoredRecord, StoredRun, StreamFrom, StreamHead,
    StreamNames, StreamQuery, keys, record,
};
use super::keyspaces::{Keyspaces, read_error};
use crate::ids::{FlowId, Name, RunId};
use crate::time::Timestamp;

/// The store between two batches.
///
/// A read past the snapshot would see the rows of a batch one by one as they come.
pub(super) struct View<'a> {
    keyspaces: &'a Keyspaces,
    snapshot: Snapshot,
}

impl<'a> View<'a> {
    pub(super) fn now(database: &Database, keyspaces: &'a Keyspaces) -> Self {
        Self { keyspaces, snapshot: database.snapshot() }
    }

    pub(super) fn load(&self, run: RunId) -> Result<Option<StoredRun>, StoreError> {
        let row = self.get(&self.keyspaces.snapshots, &keys::run(run))?;
        let snapshot = row.map(|row| record::decode_snapshot_row(&row)).transpose()?;
        let from = snapshot.as_ref().map_or(1, |(sequence, _)| sequence.saturating_add(1));
        StoredRun::whole(run, snapshot, self.history(run, from, usize::MAX)?)
    }

    pub(super) fn live(&self, flow_id: &FlowId) -> Result<Option<LiveRun>, StoreError> {
        let row = self.get(&self.keyspaces.live, keys::live(flow_id))?;
        row.map(|row| record::decode_live(&row)).transpose()
    }

    pub(super) fn summary(&self, run: RunId) -> Result<Option<RunSummary>, StoreError> {
        let row = self.get(&self.keyspaces.runs, &keys::run(run))?;
        row.map(|row| record::decode_summary(run, &row)).transpose()
    }

    pub(super) fn runs(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunSummary>, StoreError> {
        let after = after.map(keys::run);
        let rows = self.scan(&self.keyspaces.runs, after.as_ref().map(<[u8; 16]>::as_slice), None);
        rows.take(limit)
            .map(|row| {
                let (key, value) = row.into_inner().map_err(|e| read_error(&e))?;
                record::decode_summary(keys::read_run(&key)?, &value)
            })
            .collect()
    }

    pub(super) fn ready(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunId>, StoreError> {
        let after = after.map(keys::run);
        let rows = self.scan(&self.keyspaces.ready, after.as_ref().map(<[u8; 16]>::as_slice), None);
        rows.take(limit).map(|row| keys::read_run(&key(row)?)).collect()
    }

    pub(super) fn due(
        &self,
        after: Option<&Due>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        if after.is_some_and(|after| after.at > until) {
            return Ok(Vec::new());
        }
        let after = after.map(keys::timer);
        let end = keys::timers_after(until);
        let rows = self.scan(&self.keyspaces.timers, after.as_ref().map(<[u8; 32]>::as_slice), Some(&end));
        rows.take(limit).map(|row| keys::read_timer(&key(row)?)).collect()
    }

    pub(super) fn history(
        &self,
        run: RunId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let range = keys::event(run, from)..=keys::event(run, u64::MAX);
        let rows = self.snapshot.range(&self.keyspaces.events, range);
        rows.take(limit)
            .map(|row| {
                let (key, value) = row.into_inner().map_err(|e| read_error(&e))?;
                let (_, sequence) = keys::read_event(&key)?;
                Ok(StoredRecord { sequence, record: Bytes::copy_from_slice(&value) })
            })
            .collect()
    }

    /// The run's last sequence number; 0 if it has no transition.
    pub(super) fn last_sequence(&self, run: RunId) -> Result<u64, StoreError> {
        match self.snapshot.prefix(&self.keyspaces.events, keys::run(run)).next_back() {
            None => Ok(0),
            Some(row) => Ok(keys::read_event(&key(row)?)?.1),
        }
    }

    /// The head of a stream and its key, under the first of its names that has one.
    pub(super) fn stream_head(
        &self,
        run: RunId,
        stream: &StreamNames,
    ) -> Result<Option<(Vec<u8>, StreamHead)>, StoreError> {
        for name in stream.all() {
            let key = keys::stream_head(run, name);
            if let Some(row) = self.get(&self.keyspaces.streams, &key)? {
                return Ok(Some((key, record::decode_head(&row)?)));
            }
        }
        Ok(None)
    }

    /// Items with these offsets of the stream whose head has this key.
    pub(super) fn stream_items(&self, head: &[u8], offsets: Range<u64>) -> Iter {
        let range = keys::stream_item(head, offsets.start)..keys::stream_item(head, offsets.end);
        self.snapshot.range(&self.keyspaces.streams, range)
    }

    pub(super) fn stream(
        &self,
        run: RunId,
        stream: &StreamNames,
        query: StreamQuery,
    ) -> Result<Vec<StoredItem>, StoreError> {
        let Some((key, head)) = self.stream_head(run, stream)? else { return Ok(Vec::new()) };
        let offsets = head.range(query.from);
        if offsets.is_empty() {
            return Ok(Vec::new());
        }
        let item = |row: Guard| {
            let (key, value) = row.into_inner().map_err(|e| read_error(&e))?;
            let offset = keys::read_stream_item(&key)?;
            Ok(StoredItem { offset, record: Bytes::copy_from_slice(&value) })
        };
        let items = self.stream_items(&key, offsets).map(item);
        match query.from {
            StreamFrom::After(_) => query.collect(items),
            StreamFrom::Before(_) => query.collect(items.rev()),
        }
    }

    pub(super) fn flows(&self) -> Result<Vec<Name>, StoreError> {
        let rows = self.snapshot.prefix(&self.keyspaces.meta, keys::FLOW_PREFIX);
        rows.map(|row| keys::read_flow(&key(row)?)).collect()
    }

    fn get(&self, keyspace: &Keyspace, key: &[u8]) -> Result<Option<Slice>, StoreError> {
        self.snapshot.get(keyspace, key).map_err(|e| read_error(&e))
    }

    /// Rows after the key `after`, or all but the mark, up to the key `end` and without it.
    fn scan(&self, keyspace: &Keyspace, after: Option<&[u8]>, end: Option<&[u8]>) -> Iter {
        let after = Bound::Excluded(after.unwrap_or(&keys::MARK));
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        self.snapshot.range::<&[u8], _>(keyspace, (after, end))
    }
}

fn key(row: Guard) -> Result<Slice, StoreError> {
    row.key().map_err(|e| read_error(&e))
}
