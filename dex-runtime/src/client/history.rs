//! Reading the history of a run, page by page.

use std::fmt;
use std::sync::Arc;

use super::handle::RunHandle;
use super::untyped::UntypedRun;
use crate::definition::Flow;
use crate::engine::Event;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{Renamed, RunId};
use crate::inspect::{HistoryEntry, Teller};
use crate::shard::Shard;
use crate::store::{Store, StoreError, StoredRecord, record};
use crate::time::Timestamp;

/// Longest page. A reader of more goes on with the next one.
const PAGE_MAX: usize = 1_000;

/// Bytes of records after which a page ends, so that a page of large values takes little memory, too.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Records that are read at a time: a page goes over its bytes by no more than these.
const READ_AT_ONCE: usize = 32;

impl<F: Flow> RunHandle<F> {
    /// Reads what has happened to the run, from its start on or from [behind a transition](History::after); also of a
    /// run that has ended.
    ///
    /// ```
    /// # use dex_runtime::definition::Flow;
    /// # use dex_runtime::{Result, RunHandle};
    /// # async fn example<F: Flow>(run: RunHandle<F>) -> Result<()> {
    /// let mut history = run.history();
    /// loop {
    ///     let page = history.page(100).await?;
    ///     if page.is_empty() {
    ///         break;
    ///     }
    ///     for entry in page {
    ///         for event in entry.events {
    ///             println!("{} {} {:?} {}", entry.at, event.name, event.execution, event.detail);
    ///         }
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn history(&self) -> History {
        History::new(self.run.clone())
    }
}

/// Reads the history of a run; made by [`RunHandle::history`] and [`DynRun::history`](crate::DynRun::history).
///
/// It holds no run and no page: dropping it leaves nothing behind. What it remembers is how the open step executions
/// are called.
#[derive(Clone)]
pub struct History {
    run: UntypedRun,
    /// The last transition that was read.
    read: u64,
    /// The last transition that is not to be given.
    skip: u64,
    teller: Teller,
}

impl History {
    pub(super) fn new(run: UntypedRun) -> Self {
        Self { run, read: 0, skip: 0, teller: Teller::default() }
    }

    /// Goes on behind the transition with this sequence number; 0 is the beginning.
    ///
    /// The ones before it are read nevertheless, at the next page: they say how step executions are called.
    #[must_use]
    pub fn after(self, sequence: u64) -> Self {
        Self { skip: sequence, ..Self::new(self.run) }
    }

    /// The next transitions, in order, at most `limit` and never more than 1,000. A page whose values are large is
    /// shorter; an empty one says that nothing more has happened up to now. It may be asked again later.
    ///
    /// What it gives is on disk. It may be dropped at any point: the next call goes on where it was.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: the run is not in the store.
    /// - [`ErrorKind::Quarantined`]: this build cannot read the next transition. All before it were given.
    /// - [`ErrorKind::ShutDown`]: the engine was shut down.
    pub async fn page(&mut self, limit: usize) -> Result<Vec<HistoryEntry>> {
        let limit = limit.min(PAGE_MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        loop {
            let skips = self.skip.saturating_sub(self.read);
            let count = usize::try_from(skips).unwrap_or(PAGE_MAX).saturating_add(limit).min(PAGE_MAX);
            let (run, from) = (&self.run, self.read + 1);
            let read = |shard: Arc<Shard>| async move { run.records(&shard, from, count).await };
            let page = self.run.core.with_shard(read).await?;
            let is_over = page.is_empty();
            let given = self.tell(page, limit)?;
            if is_over || !given.is_empty() {
                return Ok(given);
            }
        }
    }

    /// Tells what was read, up to `limit` transitions, and fails only if there is nothing before the fault.
    fn tell(&mut self, page: Vec<Read>, limit: usize) -> Result<Vec<HistoryEntry>> {
        let mut given = Vec::new();
        for Read { sequence, decoded } in page {
            if given.len() == limit {
                break;
            }
            match decoded {
                Err(error) if given.is_empty() => return Err(self.unreadable(sequence, &error)),
                Err(_) => break,
                Ok((_, events)) if sequence <= self.skip => self.teller.skip(&events),
                Ok((at, events)) => given.push(self.teller.tell(sequence, at, &events)),
            }
            self.read = sequence;
        }
        Ok(given)
    }

    fn unreadable(&self, sequence: u64, error: &StoreError) -> Error {
        let message = format!("transition {sequence} of run `{}` cannot be read: {error}", self.run.flow_id);
        Error::new(ErrorKind::Quarantined, message)
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History")
            .field("flow_id", &self.run.flow_id)
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}

/// A transition that was read.
struct Read {
    sequence: u64,
    decoded: Result<(Timestamp, Vec<Event>), StoreError>,
}

impl UntypedRun {
    /// Transitions from `from` on that are on disk, with the names that attributes and channels have now.
    async fn records(&self, shard: &Arc<Shard>, from: u64, count: usize) -> Result<Vec<Read>> {
        let Some(summary) = shard.summary(self.run_id).await? else { return Err(self.missing()) };
        let (run, flows) = (self.run_id, Arc::clone(&shard.flows));
        let read = move |store: &dyn Store| {
            let renamed = flows.get(&summary.flow).map(|flow| &flow.renamed);
            let records = read(store, run, from, count)?.into_iter();
            let decode = |stored: StoredRecord| Read {
                sequence: stored.sequence,
                decoded: record::decode_transition_renamed(
                    &stored.record,
                    renamed.unwrap_or(&Renamed::new()),
                ),
            };
            Ok(records.map(decode).collect())
        };
        let records = shard.ask(read).await?;
        shard.all_durable().await?;
        Ok(records)
    }
}

/// Records from `from` on, until there are `count` of them or enough bytes.
fn read(store: &dyn Store, run: RunId, from: u64, count: usize) -> Result<Vec<StoredRecord>, StoreError> {
    let (mut records, mut bytes) = (Vec::new(), 0);
    while records.len() < count && bytes < PAGE_BYTES {
        let next = from + records.len() as u64;
        let more = store.history(run, next, READ_AT_ONCE.min(count - records.len()))?;
        if more.is_empty() {
            break;
        }
        bytes += more.iter().map(|stored| stored.record.len()).sum::<usize>();
        records.extend(more);
    }
    Ok(records)
}
