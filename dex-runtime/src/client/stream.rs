//! Streams from outside: reading on as items come, looking back, and appending.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::handle::RunHandle;
use super::untyped::UntypedRun;
use crate::definition::{Flow, Stream, StreamKey};
use crate::dex::written;
use crate::error::{Error, ErrorKind, Result};
use crate::registry::Refused;
use crate::shard::{Found, Shard, check_size};
use crate::store::record::{ItemOrigin, decode_item};
use crate::store::{StoredItem, StreamFrom, StreamQuery};
use crate::time::Timestamp;
use crate::value::{Payload, Value, ValueError};

/// Items that are read at a time: few reads for small ones, little memory for large ones.
const PAGE_ITEMS: usize = 256;

/// Bytes after which no more items are read at a time.
const PAGE_BYTES: usize = 256 * 1024;

/// Longest list of newest items that is given at once; the next page begins before its last.
const NEWEST_MAX: usize = 10_000;

/// An item of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamItem<T> {
    /// Its place in the stream, from 1, one more than that of the item before. No other item ever has it. If it is more
    /// than one beyond the last one that was read, those between are gone.
    pub offset: u64,
    /// The value.
    pub value: T,
    /// Who appended it.
    pub source: StreamSource,
    /// When it was appended, by the engine's clock.
    pub at: Timestamp,
}

/// Who appended an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamSource {
    /// A caller, with [`RunHandle::append`].
    Client,
    /// A step.
    Step {
        /// The step execution: `<step>-<n>`.
        execution: String,
        /// Which of its attempts, from 1. A later one may have appended the same again.
        attempt: u32,
    },
}

impl<T: Value> StreamItem<T> {
    fn read(stored: &StoredItem, stream: StreamKey, run: &UntypedRun) -> Result<Self> {
        let item = decode_item(&stored.record)?;
        let source = match item.origin {
            ItemOrigin::Client => StreamSource::Client,
            ItemOrigin::Step { step, number, attempt } => {
                StreamSource::Step { execution: format!("{step}-{number}"), attempt }
            }
        };
        let offset = stored.offset;
        let value = item.value.decode().map_err(|error: ValueError| {
            let (stream, flow_id) = (stream.name, &run.flow_id);
            error.of(format_args!("item {offset} of stream `{stream}` of run `{flow_id}`"))
        })?;
        Ok(Self { offset, value, source, at: item.at })
    }
}

impl<F: Flow> RunHandle<F> {
    /// Reads a stream of the run, from its oldest item on or from [behind an offset](StreamReader::after).
    ///
    /// ```
    /// # use dex_runtime::definition::{Flow, Stream};
    /// # use dex_runtime::{Result, RunHandle};
    /// # async fn example<F: Flow>(run: RunHandle<F>, tokens: Stream<F, String>, mut last_seen: u64) -> Result<()> {
    /// let mut tokens = run.read(tokens).after(last_seen);
    /// while let Some(item) = tokens.next().await? {
    ///     print!("{}", item.value);
    ///     last_seen = item.offset;
    /// }
    /// // The run has ended, and everything was read.
    /// # Ok(()) }
    /// ```
    pub fn read<T: Value>(&self, stream: Stream<F, T>) -> StreamReader<T> {
        StreamReader::new(self.run.clone(), stream.key())
    }

    /// The newest items of a stream, newest first, at most `limit` and never more than 10,000. For the page after that,
    /// give the offset of the last one as `before`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if a stored item does not fit the type.
    pub async fn newest<T: Value>(
        &self,
        stream: Stream<F, T>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StreamItem<T>>> {
        self.run.newest_items(stream.key(), before, limit).await
    }

    /// Puts an item at the end of a stream of the run, and gives its offset. Once it returns the item is on disk.
    ///
    /// A [request id](Self::request_id) is refused: a stream does not remember requests.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: the run has ended; nothing was appended.
    /// - [`ErrorKind::InvalidValue`]: the value cannot be stored, or does not fit into the stream.
    pub async fn append<T: Value>(&self, stream: Stream<F, T>, value: T) -> Result<u64> {
        let stream = stream.key();
        let item = Payload::encode(&value)
            .map_err(|error| error.of(format_args!("the item for stream `{}`", stream.name)))?;
        self.run.append(stream, item).await
    }
}

/// Reads a stream of a run, item by item; made by [`RunHandle::read`] and [`DynRun::read`](crate::DynRun::read).
///
/// It survives what the run survives: when the store is opened again, it goes on. It holds a page of items and no run;
/// dropping it leaves nothing behind.
///
/// A reader that falls behind what the stream keeps goes on with the oldest item that is there; the offsets show the
/// gap.
pub struct StreamReader<T> {
    run: UntypedRun,
    stream: StreamKey,
    /// The last offset that was given, or was to be skipped.
    after: u64,
    /// Items that were read and not given yet.
    page: VecDeque<StoredItem>,
    value: PhantomData<fn() -> T>,
}

impl<T: Value> StreamReader<T> {
    pub(super) fn new(run: UntypedRun, stream: StreamKey) -> Self {
        Self { run, stream, after: 0, page: VecDeque::new(), value: PhantomData }
    }

    /// Goes on behind the item with this offset; 0 is the beginning.
    #[must_use]
    pub fn after(self, offset: u64) -> Self {
        Self { after: offset, page: VecDeque::new(), ..self }
    }

    /// The next item, as soon as it is on disk; `None` once the run has ended and everything was read.
    ///
    /// It may be dropped at any point, as by a timeout or a `select!`: the next call goes on where it was.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::InvalidValue`]: the item does not fit the type. The next call goes on behind it.
    /// - [`ErrorKind::ShutDown`]: the engine was shut down.
    pub async fn next(&mut self) -> Result<Option<StreamItem<T>>> {
        if self.page.is_empty() {
            self.page = self.run.items_after(self.stream, self.after).await?.into();
        }
        let Some(stored) = self.page.pop_front() else { return Ok(None) };
        self.after = stored.offset;
        StreamItem::read(&stored, self.stream, &self.run).map(Some)
    }
}

impl<T> fmt::Debug for StreamReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamReader")
            .field("flow_id", &self.run.flow_id)
            .field("stream", &self.stream.name)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

impl UntypedRun {
    /// Items behind `after`, as soon as there are any; none once the run has ended and there are none.
    async fn items_after(&self, stream: StreamKey, after: u64) -> Result<Vec<StoredItem>> {
        loop {
            let shard = self.core.shard_or_wait().await?;
            match self.items_in(&shard, stream, after).await {
                Ok(Some(items)) => return Ok(items),
                Ok(None) => {}
                // This opening is over; what it says of its end is for those who wanted to change something.
                Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::DiskFull) => {}
                Err(error) => return Err(error),
            }
            self.core.after(&shard).await?;
        }
    }

    /// What [`items_after`](Self::items_after) gives, if it comes in this opening of the store.
    async fn items_in(
        &self,
        shard: &Arc<Shard>,
        stream: StreamKey,
        after: u64,
    ) -> Result<Option<Vec<StoredItem>>> {
        let query =
            StreamQuery { from: StreamFrom::After(after), items_max: PAGE_ITEMS, bytes_max: PAGE_BYTES };
        // First the watcher, then the look: an item or an end between the two is not missed.
        let mut watcher = shard.readers.watch(self.run_id);
        loop {
            let items = shard.items(self.run_id, stream, query).await?;
            if !items.is_empty() {
                return Ok(Some(items));
            }
            if shard.has_ended(self.run_id).await? {
                // Nothing comes after the end, but something may have come before it and after the look.
                return shard.items(self.run_id, stream, query).await.map(Some);
            }
            if !watcher.changed().await {
                return Ok(None);
            }
        }
    }

    pub(super) async fn newest_items<T: Value>(
        &self,
        stream: StreamKey,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StreamItem<T>>> {
        let limit = limit.min(NEWEST_MAX);
        let mut newest = Vec::new();
        let mut before = before.unwrap_or(u64::MAX);
        while newest.len() < limit {
            let from = StreamFrom::Before(before);
            let query = StreamQuery { from, items_max: limit - newest.len(), bytes_max: PAGE_BYTES };
            let read = |shard: Arc<Shard>| async move { shard.items(self.run_id, stream, query).await };
            let page = self.core.with_shard(read).await?;
            let Some(last) = page.last() else { break };
            before = last.offset;
            for item in &page {
                newest.push(StreamItem::read(item, stream, self)?);
            }
        }
        Ok(newest)
    }

    pub(super) async fn append(&self, stream: StreamKey, value: Payload) -> Result<u64> {
        check_size(stream, &value)?;
        if let Some(id) = &self.request {
            let message = format!(
                "stream `{}` does not remember requests, so appending cannot be request `{id}`: append by a handle \
                 without one",
                stream.name,
            );
            return Err(Error::new(ErrorKind::InvalidSetup, message));
        }
        let append = |shard: Arc<Shard>| {
            let value = value.clone();
            async move { self.append_in(&shard, stream, value).await }
        };
        self.core.with_shard(append).await
    }

    async fn append_in(&self, shard: &Arc<Shard>, stream: StreamKey, value: Payload) -> Result<u64> {
        shard.check()?;
        loop {
            let Found::Open(run) = self.find(shard).await? else { return Err(self.closed(shard).await) };
            match shard.append_called(&run, stream, value.clone()).await {
                Ok(answer) => return written(answer).await,
                Err(Refused::Passivated) => shard.check()?,
                Err(refused) => return Err(shard.refusal(&run, refused).await),
            }
        }
    }
}
