//! The questions that a store answers, each one look-up or one scan.

use std::ops::Bound;

use bytes::Bytes;
use fjall::{Iter, Keyspace};

use super::super::{Due, LiveRun, RunSummary, StoreError, StoredRecord, StoredRun, keys, record};
use super::keyspaces::{Keyspaces, read_error};
use crate::ids::{FlowId, Name, RunId};
use crate::time::Timestamp;

pub(super) fn load(keyspaces: &Keyspaces, run: RunId) -> Result<Option<StoredRun>, StoreError> {
    let row = get(&keyspaces.snapshots, &keys::run(run))?;
    let snapshot = row.map(|row| record::decode_snapshot_row(&row)).transpose()?;
    // A newer snapshot may be written between the two reads: the older one with more events is as good.
    let from = snapshot.as_ref().map_or(1, |(sequence, _)| sequence + 1);
    StoredRun::whole(run, snapshot, history(keyspaces, run, from, usize::MAX)?)
}

pub(super) fn live(keyspaces: &Keyspaces, flow_id: &FlowId) -> Result<Option<LiveRun>, StoreError> {
    get(&keyspaces.live, keys::live(flow_id))?.map(|row| record::decode_live(&row)).transpose()
}

pub(super) fn summary(keyspaces: &Keyspaces, run: RunId) -> Result<Option<RunSummary>, StoreError> {
    get(&keyspaces.runs, &keys::run(run))?.map(|row| record::decode_summary(run, &row)).transpose()
}

pub(super) fn runs(
    keyspaces: &Keyspaces,
    after: Option<RunId>,
    limit: usize,
) -> Result<Vec<RunSummary>, StoreError> {
    let rows = scan(&keyspaces.runs, after.map(keys::run).as_ref().map(<[u8; 16]>::as_slice), None);
    rows.take(limit)
        .map(|row| {
            let (key, value) = row.into_inner().map_err(|e| read_error(&e))?;
            record::decode_summary(keys::read_run(&key)?, &value)
        })
        .collect()
}

pub(super) fn ready(
    keyspaces: &Keyspaces,
    after: Option<RunId>,
    limit: usize,
) -> Result<Vec<RunId>, StoreError> {
    let rows = scan(&keyspaces.ready, after.map(keys::run).as_ref().map(<[u8; 16]>::as_slice), None);
    rows.take(limit).map(|row| keys::read_run(&row.key().map_err(|e| read_error(&e))?)).collect()
}

pub(super) fn due(
    keyspaces: &Keyspaces,
    after: Option<&Due>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<Due>, StoreError> {
    if after.is_some_and(|after| after.at > until) {
        return Ok(Vec::new());
    }
    let after = after.map(keys::timer);
    let end = keys::timers_after(until);
    let rows = scan(&keyspaces.timers, after.as_ref().map(<[u8; 32]>::as_slice), Some(&end));
    rows.take(limit).map(|row| keys::read_timer(&row.key().map_err(|e| read_error(&e))?)).collect()
}

pub(super) fn history(
    keyspaces: &Keyspaces,
    run: RunId,
    from: u64,
    limit: usize,
) -> Result<Vec<StoredRecord>, StoreError> {
    let range = keys::event(run, from)..=keys::event(run, u64::MAX);
    let rows = keyspaces.events.range(range);
    rows.take(limit)
        .map(|row| {
            let (key, value) = row.into_inner().map_err(|e| read_error(&e))?;
            let (_, sequence) = keys::read_event(&key)?;
            Ok(StoredRecord { sequence, record: Bytes::copy_from_slice(&value) })
        })
        .collect()
}

/// The run's last sequence number; 0 if it has no transition.
pub(super) fn last_sequence(keyspaces: &Keyspaces, run: RunId) -> Result<u64, StoreError> {
    match keyspaces.events.prefix(keys::run(run)).next_back() {
        None => Ok(0),
        Some(row) => Ok(keys::read_event(&row.key().map_err(|e| read_error(&e))?)?.1),
    }
}

pub(super) fn flows(keyspaces: &Keyspaces) -> Result<Vec<Name>, StoreError> {
    let rows = keyspaces.meta.prefix(keys::FLOW_PREFIX);
    rows.map(|row| keys::read_flow(&row.key().map_err(|e| read_error(&e))?)).collect()
}

fn get(keyspace: &Keyspace, key: &[u8]) -> Result<Option<fjall::Slice>, StoreError> {
    keyspace.get(key).map_err(|e| read_error(&e))
}

/// Rows after the key `after`, or all but the mark, up to the key `end` and without it.
fn scan(keyspace: &Keyspace, after: Option<&[u8]>, end: Option<&[u8]>) -> Iter {
    let after = Bound::Excluded(after.unwrap_or(&keys::MARK));
    let end = end.map_or(Bound::Unbounded, Bound::Excluded);
    keyspace.range::<&[u8], _>((after, end))
}
