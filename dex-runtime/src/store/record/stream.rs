//! Streams: an item, and the head of a stream.

use bytes::Bytes;

use super::super::stream::{StreamHead, item_bytes};
use super::super::types::StoreError;
use super::bytes::{ReadError, Reader, Writer};
use super::{begin, read, tag};
use crate::ids::Name;
use crate::time::Timestamp;
use crate::value::{Payload, VALUE_BYTES_MAX};

const ITEM_VERSION: u8 = 1;
const HEAD_VERSION: u8 = 1;

/// Room for an item's fields beside its value, with a step's name of usual length.
const CAPACITY: usize = 48;

/// An item of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRecord {
    /// Who appended it.
    pub origin: ItemOrigin,
    /// When it was appended.
    pub at: Timestamp,
    /// The value.
    pub value: Payload,
}

/// Who appended an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemOrigin {
    /// A caller from outside.
    Client,
    /// A step.
    Step {
        /// The step's stored name.
        step: Name,
        /// The number of its execution among those of the step, from 1.
        number: u32,
        /// The attempt, from 1.
        attempt: u32,
    },
}

/// Bytes of the largest value of an item of this origin in a stream of this capacity.
pub(crate) fn largest_item(capacity: u64, origin: &ItemOrigin) -> usize {
    /// The header, the time, the numbers and lengths, each as long as it may become.
    const FIXED: usize = 40;
    let name = match origin {
        ItemOrigin::Client => 0,
        ItemOrigin::Step { step, .. } => step.as_str().len(),
    };
    let left = capacity.saturating_sub(item_bytes(FIXED + name));
    usize::try_from(left).unwrap_or(usize::MAX).min(VALUE_BYTES_MAX)
}

/// Encodes an item.
pub fn encode_item(item: &ItemRecord) -> Bytes {
    let mut out = begin(ITEM_VERSION, CAPACITY + item.value.as_bytes().len());
    out.origin(&item.origin);
    out.time(Timestamp::EPOCH, item.at);
    out.payload(&item.value);
    out.finish()
}

/// Decodes what [`encode_item`] made.
///
/// # Errors
///
/// [`StoreError::Unreadable`] if the bytes are no item.
pub fn decode_item(record: &[u8]) -> Result<ItemRecord, StoreError> {
    read("an item of a stream", ITEM_VERSION, record, |input| {
        Ok(ItemRecord { origin: input.origin()?, at: input.time(Timestamp::EPOCH)?, value: input.payload()? })
    })
}

/// The head of a stream.
pub(in super::super) fn encode_head(head: &StreamHead) -> Bytes {
    let mut out = begin(HEAD_VERSION, CAPACITY);
    let StreamHead { first, next, bytes } = *head;
    out.number(first);
    out.number(next);
    out.number(bytes);
    out.finish()
}

/// Decodes what [`encode_head`] made.
pub(in super::super) fn decode_head(record: &[u8]) -> Result<StreamHead, StoreError> {
    read("the head of a stream", HEAD_VERSION, record, |input| {
        Ok(StreamHead { first: input.number()?, next: input.number()?, bytes: input.number()? })
    })
}

impl Writer {
    fn origin(&mut self, origin: &ItemOrigin) {
        match origin {
            ItemOrigin::Client => self.byte(tag::origin::CLIENT),
            ItemOrigin::Step { step, number, attempt } => {
                self.byte(tag::origin::STEP);
                self.name(step);
                self.number(u64::from(*number));
                self.number(u64::from(*attempt));
            }
        }
    }
}

impl Reader<'_> {
    fn origin(&mut self) -> Result<ItemOrigin, ReadError> {
        Ok(match self.byte()? {
            tag::origin::CLIENT => ItemOrigin::Client,
            tag::origin::STEP => ItemOrigin::Step {
                step: self.name()?,
                number: self.small_number()?,
                attempt: self.small_number()?,
            },
            other => return Err(self.unknown_tag("origin", other)),
        })
    }
}
