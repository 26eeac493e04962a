//! Streams: the handle, and why an item is not taken.

use std::fmt;
use std::marker::PhantomData;

use crate::value::ValueError;

/// An append-only output of a run: `#[stream(capacity = "1 MiB")] const TOKENS: Stream<String>;`.
///
/// A step appends while it runs ([`StepContext::append`], [`StepContext::text`]); callers read from any offset on
/// ([`RunHandle::read`]). Items are not part of the step's transaction: they stay if the attempt fails.
///
/// [`StepContext::append`]: super::StepContext::append
/// [`StepContext::text`]: super::StepContext::text
/// [`RunHandle::read`]: crate::RunHandle::read
pub struct Stream<F, T> {
    key: StreamKey,
    // A handle owns neither; this makes it `Copy`, `Send` and `Sync` whatever they are.
    types: PhantomData<fn() -> (F, T)>,
}

/// Which stream of a flow, without its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamKey {
    pub(crate) name: &'static str,
    /// Stored names that it had before.
    pub(crate) aliases: &'static [&'static str],
    /// Bytes that it may hold.
    pub(crate) capacity: u64,
}

impl<F, T> Stream<F, T> {
    /// The handle of the flow's stream with this stored name. The macros write this call.
    #[doc(hidden)]
    pub const fn new(name: &'static str, aliases: &'static [&'static str], capacity: u64) -> Self {
        Self { key: StreamKey { name, aliases, capacity }, types: PhantomData }
    }

    /// The stored name.
    pub const fn name(self) -> &'static str {
        self.key.name
    }

    /// Bytes that the stream of one run may hold; the oldest items go when it is full.
    pub const fn capacity(self) -> u64 {
        self.key.capacity
    }

    pub(crate) const fn key(self) -> StreamKey {
        self.key
    }
}

impl<F, T> Clone for Stream<F, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, T> Copy for Stream<F, T> {}

impl<F, T> fmt::Debug for Stream<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.key.name).finish()
    }
}

/// Why an item was not appended. Nothing was written then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// More items wait to be written than the engine keeps in memory: the disk does not keep up.
    ///
    /// The attempt may try again in a moment, or write less. A [text](super::StepContext::text) waits by itself.
    #[error(
        "stream `{stream}` takes nothing at this moment, {waiting} bytes wait to be written: try again in a moment"
    )]
    Full {
        /// The stream's stored name.
        stream: &'static str,
        /// Bytes that wait, of all streams of the engine.
        waiting: usize,
    },
    /// The item is larger than the stream may ever be. No repetition mends that: a step that fails with it is parked.
    #[error(
        "an item of {bytes} bytes does not fit into stream `{stream}`, whose items have at most {max}: give the stream \
         more capacity, or split the item"
    )]
    TooLarge {
        /// The stream's stored name.
        stream: &'static str,
        /// Size of the encoded value in bytes.
        bytes: usize,
        /// Size of the largest value that fits.
        max: usize,
    },
    /// The value cannot be encoded or is over the limit of all values.
    #[error(transparent)]
    InvalidValue(#[from] ValueError),
    /// The attempt has ended or was called off: nobody wants what it does any more.
    #[error("this attempt is over: stream `{stream}` takes no more from it")]
    Over {
        /// The stream's stored name.
        stream: &'static str,
    },
    /// The engine stops, or opens its store again. The attempt is called off, and made again later.
    #[error("stream `{stream}` takes nothing: {reason}")]
    Stopped {
        /// The stream's stored name.
        stream: &'static str,
        /// What the engine says.
        reason: String,
    },
}

impl StreamError {
    /// Whether it is so in every attempt.
    pub(super) fn is_unworkable(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::InvalidValue(_))
    }
}
