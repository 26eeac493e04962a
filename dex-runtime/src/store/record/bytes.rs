//! Primitives of records. The only file that knows which library writes them.

use std::cell::Cell;
use std::fmt;

use bincode::config::Configuration;
use bytes::Bytes;

use crate::ids::Renamed;

const CONFIG: Configuration = bincode::config::standard();

thread_local! {
    /// Where records are put together, to be copied from there at their size: one allocation each, whatever their size.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Bytes that a thread keeps for this; larger records are snapshots, which are rare.
const SCRATCH_BYTES_MAX: usize = 16 * 1024;

/// Where a record is put together.
#[derive(Debug)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        // Taken, not borrowed, so that two records may be put together at once.
        let mut scratch = SCRATCH.take();
        scratch.clear();
        scratch.reserve(capacity);
        Self(scratch)
    }

    pub(super) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn flag(&mut self, value: bool) {
        self.byte(u8::from(value));
    }

    pub(super) fn number(&mut self, value: u64) {
        self.primitive(value);
    }

    /// A number that may be negative; small ones of either sign are short.
    pub(super) fn signed(&mut self, value: i64) {
        self.primitive(value);
    }

    /// A length, or how many items follow.
    pub(super) fn count(&mut self, value: usize) {
        self.primitive(value as u64);
    }

    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.count(value.len());
        self.fixed(value);
    }

    /// Bytes whose number the reader knows.
    pub(super) fn fixed(&mut self, value: &[u8]) {
        self.0.extend_from_slice(value);
    }

    pub(super) fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    pub(super) fn option<T>(&mut self, value: Option<T>, some: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            some(self, value);
        }
    }

    pub(super) fn list<I>(&mut self, items: I, mut item: impl FnMut(&mut Self, I::Item))
    where
        I: IntoIterator<IntoIter: ExactSizeIterator>,
    {
        let items = items.into_iter();
        self.count(items.len());
        items.for_each(|one| item(self, one));
    }

    pub(super) fn finish(self) -> Bytes {
        if self.0.len() > SCRATCH_BYTES_MAX {
            return self.0.into();
        }
        let record = Bytes::copy_from_slice(&self.0);
        SCRATCH.set(self.0);
        record
    }

    fn primitive(&mut self, value: impl bincode::Encode) {
        bincode::encode_into_std_write(value, &mut self.0, CONFIG).expect("a vector takes every write");
    }
}

/// Why bytes are not a record.
#[derive(Debug)]
pub(super) struct ReadError {
    /// Where, in bytes from the record's start.
    at: usize,
    reason: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (before byte {})", self.reason, self.at)
    }
}

/// Takes a record apart, front to back.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
    /// What attributes and channels are called now that were written under other names.
    pub(super) renamed: &'a Renamed,
}

impl<'a> Reader<'a> {
    pub(super) fn new(record: &'a [u8], renamed: &'a Renamed) -> Self {
        Self { rest: record, length: record.len(), renamed }
    }

    /// An error at the place that was read last.
    pub(super) fn error(&self, reason: impl Into<String>) -> ReadError {
        ReadError { at: self.length - self.rest.len(), reason: reason.into() }
    }

    pub(super) fn unknown_tag(&self, of: &str, found: u8) -> ReadError {
        self.error(format!("{found} is not a kind of {of} that this build knows"))
    }

    pub(super) fn byte(&mut self) -> Result<u8, ReadError> {
        let (first, rest) = self.rest.split_first().ok_or_else(|| self.error("the record ends too early"))?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn flag(&mut self) -> Result<bool, ReadError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.error(format!("{other} is neither yes nor no"))),
        }
    }

    pub(super) fn number(&mut self) -> Result<u64, ReadError> {
        self.primitive()
    }

    pub(super) fn small_number(&mut self) -> Result<u32, ReadError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.error(format!("{number} is too large")))
    }

    pub(super) fn signed(&mut self) -> Result<i64, ReadError> {
        self.primitive()
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], ReadError> {
        let length = self.number()?;
        usize::try_from(length)
            .ok()
            .and_then(|length| self.take(length))
            .ok_or_else(|| self.error(format!("{length} bytes should follow and do not")))
    }

    pub(super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        self.take(N)
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| self.error(format!("{N} bytes should follow and do not")))
    }

    pub(super) fn text(&mut self) -> Result<&'a str, ReadError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.error("a text is not UTF-8"))
    }

    pub(super) fn option<T>(
        &mut self,
        some: impl FnOnce(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Option<T>, ReadError> {
        if self.flag()? { some(self).map(Some) } else { Ok(None) }
    }

    /// A list. Memory is taken as items turn up, not for the number that was promised.
    pub(super) fn list<T, L: FromIterator<T>>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<L, ReadError> {
        let count = self.number()?;
        // No item takes less than a byte.
        if count > self.rest.len() as u64 {
            return Err(self.error(format!("{count} items should follow and do not")));
        }
        (0..count).map(|_| item(self)).collect()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn end(&self) -> Result<(), ReadError> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(self.error(format!("{more} bytes too many"))),
        }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn primitive<T: bincode::Decode<()>>(&mut self) -> Result<T, ReadError> {
        let (value, taken) = bincode::decode_from_slice(self.rest, CONFIG)
            .map_err(|error| self.error(format!("a number cannot be read: {error}")))?;
        self.rest = self.rest.get(taken..).unwrap_or_default();
        Ok(value)
    }
}
