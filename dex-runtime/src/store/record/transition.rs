//! A transition: its time and what happened.

use bytes::Bytes;

use super::super::types::StoreError;
use super::{begin, read};
use crate::engine::Event;
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
    read("a transition record", VERSION, record, |input| {
        let at = input.time(Timestamp::EPOCH)?;
        Ok((at, input.list(|input| input.event(at))?))
    })
}
