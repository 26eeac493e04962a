//! Keys: the only place that makes or reads their bytes.
//!
//! Numbers and times are big-endian, so that the order of keys is the order of what they name and a scan
//! from a prefix is the query. The single byte [`MARK`] is a key of its own in every keyspace; it sorts
//! before all others.
//!
//! | keyspace | key |
//! |---|---|
//! | events | run (16) · sequence (8) |
//! | snapshots, runs, ready | run (16) |
//! | live | flow id (its text) |
//! | timers | due (8, microseconds) · run (16) · execution (8) |
//! | streams | run (16) · length of the name (1) · stream's name: the head; then · offset (8): an item |
//! | meta | [`EPOCH`], [`CLOSED`], `flow/` · stored name |

use super::types::{Due, StoreError};
use crate::ids::{ExecutionNo, FlowId, Name, RunId};
use crate::time::Timestamp;

/// The key under which each keyspace holds the sequence number of the last batch that changed it.
///
/// No id begins with a control character, and every other key is longer.
pub(super) const MARK: [u8; 1] = [0];

/// Meta: the number of the latest opening.
pub(super) const EPOCH: &[u8] = b"epoch";

/// Meta: the number of the latest opening that was closed.
pub(super) const CLOSED: &[u8] = b"closed";

/// Meta: before the stored name of a flow.
pub(super) const FLOW_PREFIX: &[u8] = b"flow/";

const RUN_LEN: usize = 16;

/// Key of one transition.
pub(super) fn event(run: RunId, sequence: u64) -> [u8; 24] {
    join(run.as_bytes(), &sequence.to_be_bytes())
}

/// Reads the sequence number of a transition's key.
pub(super) fn read_event(key: &[u8]) -> Result<(RunId, u64), StoreError> {
    let (run, sequence) = split::<RUN_LEN>(key).ok_or_else(|| unreadable("an event's key", key))?;
    let sequence = sequence.try_into().map_err(|_| unreadable("an event's key", key))?;
    Ok((RunId::from_bytes(run), u64::from_be_bytes(sequence)))
}

/// Key of a run's snapshot, summary or ready mark.
pub(super) fn run(run: RunId) -> [u8; RUN_LEN] {
    *run.as_bytes()
}

/// Reads the key of a run's row.
pub(super) fn read_run(key: &[u8]) -> Result<RunId, StoreError> {
    key.try_into().map(RunId::from_bytes).map_err(|_| unreadable("a run's key", key))
}

/// Key of a flow id's row.
pub(super) fn live(flow_id: &FlowId) -> &[u8] {
    flow_id.as_str().as_bytes()
}

/// Key of a timer.
pub(super) fn timer(due: &Due) -> [u8; 32] {
    let at: [u8; 24] = join(&time(due.at), due.run.as_bytes());
    join(&at, &due.execution.0.to_be_bytes())
}

/// Reads the key of a timer.
pub(super) fn read_timer(key: &[u8]) -> Result<Due, StoreError> {
    let read = || {
        let (at, rest) = split::<8>(key)?;
        let (run, execution) = split::<RUN_LEN>(rest)?;
        let at = i64::try_from(u64::from_be_bytes(at)).ok()?;
        let due = Due {
            at: Timestamp::from_micros(at),
            run: RunId::from_bytes(run),
            execution: ExecutionNo(u64::from_be_bytes(execution.try_into().ok()?)),
        };
        // The constructor clamps; a time that it changed was never written.
        (due.at.as_micros() == at).then_some(due)
    };
    read().ok_or_else(|| unreadable("a timer's key", key))
}

/// Key of the head of a stream. It sorts before the stream's items.
pub(super) fn stream_head(run: RunId, stream: &Name) -> Vec<u8> {
    let name = stream.as_str().as_bytes();
    // A name has at most 128 bytes. With its length before it none is the beginning of another.
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    [run.as_bytes(), &[length][..], name].concat()
}

/// Key of an item of the stream with this head.
pub(super) fn stream_item(head: &[u8], offset: u64) -> Vec<u8> {
    [head, &offset.to_be_bytes()].concat()
}

/// Reads the offset of an item's key.
pub(super) fn read_stream_item(key: &[u8]) -> Result<u64, StoreError> {
    key.split_last_chunk()
        .filter(|(head, _)| head.len() > RUN_LEN)
        .map(|(_, offset)| u64::from_be_bytes(*offset))
        .ok_or_else(|| unreadable("a stream item's key", key))
}

/// The first key that is no longer due at `until`.
pub(super) fn timers_after(until: Timestamp) -> [u8; 8] {
    // Timestamps end long before the largest number.
    (until.as_micros().unsigned_abs() + 1).to_be_bytes()
}

/// Key of a flow's name.
pub(super) fn flow(name: &Name) -> Vec<u8> {
    [FLOW_PREFIX, name.as_str().as_bytes()].concat()
}

/// Reads the key of a flow's name.
pub(super) fn read_flow(key: &[u8]) -> Result<Name, StoreError> {
    key.strip_prefix(FLOW_PREFIX)
        .and_then(|name| std::str::from_utf8(name).ok())
        .and_then(|name| Name::new(name).ok())
        .ok_or_else(|| unreadable("a flow's key", key))
}

fn time(at: Timestamp) -> [u8; 8] {
    // Timestamps are never negative.
    at.as_micros().unsigned_abs().to_be_bytes()
}

fn join<const N: usize>(head: &[u8], tail: &[u8]) -> [u8; N] {
    let mut key = [0; N];
    key.iter_mut().zip(head.iter().chain(tail)).for_each(|(to, from)| *to = *from);
    key
}

fn split<const N: usize>(key: &[u8]) -> Option<([u8; N], &[u8])> {
    key.split_first_chunk().map(|(head, tail)| (*head, tail))
}

fn unreadable(what: &str, key: &[u8]) -> StoreError {
    // A key is short; a damaged one may not be.
    let shown = key.get(..40).unwrap_or(key).escape_ascii().to_string();
    StoreError::Unreadable { what: what.into(), reason: format!("`{shown}` does not have its form") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::record::arbitrary::{flow_id, name, run_id, timestamp};

    fn due() -> impl Strategy<Value = Due> {
        (timestamp(), run_id(), any::<u64>()).prop_map(|(at, run, execution)| Due {
            at,
            run,
            execution: ExecutionNo(execution),
        })
    }

    proptest! {
        #[test]
        fn keys_read_back(run_id in run_id(), sequence in any::<u64>(), due in due(), name in name()) {
            prop_assert_eq!(read_event(&event(run_id, sequence)).unwrap(), (run_id, sequence));
            prop_assert_eq!(read_run(&run(run_id)).unwrap(), run_id);
            prop_assert_eq!(read_timer(&timer(&due)).unwrap(), due);
            prop_assert_eq!(read_flow(&flow(&name)).unwrap(), name);
        }

        #[test]
        fn keys_sort_as_what_they_name(
            runs in (run_id(), run_id()), sequences in any::<(u64, u64)>(), dues in (due(), due()),
        ) {
            let (a, b) = ((runs.0, sequences.0), (runs.1, sequences.1));
            prop_assert_eq!(event(a.0, a.1).cmp(&event(b.0, b.1)), a.cmp(&b));
            let (a, b) = ((runs.0, sequences.0), (runs.0, sequences.1));
            prop_assert_eq!(event(a.0, a.1).cmp(&event(b.0, b.1)), a.cmp(&b));
            prop_assert_eq!(timer(&dues.0).cmp(&timer(&dues.1)), dues.0.cmp(&dues.1));
            prop_assert_eq!(timer(&dues.0)[..] < timers_after(dues.1.at)[..], dues.0.at <= dues.1.at);
        }

        #[test]
        fn items_of_a_stream_sort_by_offset_behind_their_head_and_apart_from_others(
            runs in (run_id(), run_id()), names in (name(), name()), offsets in any::<(u64, u64)>(),
        ) {
            let head = stream_head(runs.0, &names.0);
            let (a, b) = (stream_item(&head, offsets.0), stream_item(&head, offsets.1));
            prop_assert_eq!(read_stream_item(&a).unwrap(), offsets.0);
            prop_assert_eq!(a.cmp(&b), offsets.0.cmp(&offsets.1));
            prop_assert!(MARK[..] < head[..] && head < a);
            let other = stream_head(runs.1, &names.1);
            prop_assert!(other == head || !a.starts_with(&other));
        }

        #[test]
        fn the_mark_sorts_before_every_key(run_id in run_id(), due in due(), flow_id in flow_id()) {
            prop_assert!(MARK[..] < event(run_id, 0)[..]);
            prop_assert!(MARK[..] < run(run_id)[..]);
            prop_assert!(MARK[..] < timer(&due)[..]);
            prop_assert!(MARK[..] < *live(&flow_id));
        }

        #[test]
        fn any_bytes_are_answered_with_a_key_or_an_error(key in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = (read_event(&key), read_run(&key), read_timer(&key), read_flow(&key), read_stream_item(&key));
        }
    }
}
