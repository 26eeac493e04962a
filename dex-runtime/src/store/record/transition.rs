//! A transition: its time and what happened.

use bytes::Bytes;

use super::super::types::StoreError;
use super::{AS_WRITTEN, begin, read_renamed};
use crate::engine::Event;
use crate::ids::Renamed;
use crate::time::Timestamp;

const VERSION: u8 = 1;

/// Room for an ordinary step's transition (a completion, the next step with a small input) without growing.
const CAPACITY: usize = 256;

/// Encodes one transition: the events in their order, and the time at which they were decided.
///
/// Conditions nested deeper than [`CONDITION_DEPTH_MAX`](super::CONDITION_DEPTH_MAX) would not be read
/// back: whoever makes conditions refuses them.
pub fn encode_transition(at: Timestamp, events: &[Event]) -> Bytes {
    let mut out = begin(VERSION, CAPACITY);
    out.time(Timestamp::EPOCH, at);
    out.list(events, |out, event| out.event(at, event));
    out.finish()
}

/// Decodes what [`encode_transition`] made.
///
/// # Errors
///
/// [`StoreError::Unreadable`] for anything else, a record of a later version included.
pub fn decode_transition(record: &[u8]) -> Result<(Timestamp, Vec<Event>), StoreError> {
    decode_transition_renamed(record, &AS_WRITTEN)
}

/// As [`decode_transition`], with other names for attributes and channels that were written under old ones.
///
/// # Errors
///
/// As [`decode_transition`].
pub fn decode_transition_renamed(
    record: &[u8],
    renamed: &Renamed,
) -> Result<(Timestamp, Vec<Event>), StoreError> {
    read_renamed("a transition record", VERSION, (record, renamed), |input| {
        let at = input.time(Timestamp::EPOCH)?;
        Ok((at, input.list(|input| input.event(at))?))
    })
}
