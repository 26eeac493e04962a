//! Bytes on disk: what a store must do, and the stores that do it.
//!
//! A store keeps runs as sequences of records and answers the few questions that recovery, timers and
//! lists ask. It speaks of runs, not of keys: how a key looks is `keys`' business, how a record looks is
//! `record`'s. It knows nothing of the rules of a run, of user types, tasks or the time.
//!
//! It does not assume that this process is the only writer: every commit names the sequence number it
//! builds on and the epoch of the opening it belongs to, and a store refuses what does not fit.

mod keys;
pub mod record;
mod stream;
mod types;

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod fjall;
pub mod memory;

pub use self::stream::{
    StoredItem, StreamAppend, StreamFrom, StreamHead, StreamNames, StreamQuery, item_bytes,
};
pub use self::types::{Due, LiveRun, RunCommit, RunSummary, StoreError, StoredRecord, StoredRun};

use crate::ids::{Epoch, FlowId, Name, RunId};
use crate::time::Timestamp;

/// Where runs are kept.
///
/// All calls block. The engine calls [`write`](Self::write) from one thread of its own, and the rest from
/// any thread.
///
/// Once a commit has returned an error other than one that [wrote nothing](StoreError::wrote_nothing), its
/// outcome is unknown: it may or may not be found after the next opening. Such a store refuses all further
/// commits with [`StoreError::Unavailable`] until it is opened again.
pub trait Store: std::fmt::Debug + Send + Sync + 'static {
    /// The epoch of this opening: higher than that of every earlier opening of the same data.
    fn epoch(&self) -> Epoch;

    /// Whether the opening before this one was closed, or there was none. If not, its process died, or the
    /// store failed.
    fn was_closed(&self) -> bool;

    /// Writes all of `commits` and of `appends` or none of them, each in their order. Gives the offsets of what was
    /// appended.
    ///
    /// With `durable` they are on disk once this returns; without, they survive the end of the process and
    /// are on disk with the next durable commit, which may be an empty one.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Conflict`]: a commit does not build on what the store has; nothing was written.
    /// - [`StoreError::Fenced`]: a commit belongs to another opening; nothing was written.
    /// - [`StoreError::DiskFull`]: nothing was written; the same commit may succeed later.
    /// - Any other: the outcome is unknown.
    fn write(
        &self,
        commits: &[RunCommit],
        appends: &[StreamAppend],
        durable: bool,
    ) -> Result<Vec<u64>, StoreError>;

    /// As [`write`](Self::write), without anything to append.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn commit(&self, commits: &[RunCommit], durable: bool) -> Result<(), StoreError> {
        self.write(commits, &[], durable).map(drop)
    }

    /// The run's snapshot, if it has one, and every record after it, oldest first. `None`: no such run.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the data cannot be read, or has a gap.
    fn load(&self, run: RunId) -> Result<Option<StoredRun>, StoreError>;

    /// The newest run of a flow id, open or closed.
    fn live(&self, flow_id: &FlowId) -> Result<Option<LiveRun>, StoreError>;

    /// The run's summary.
    fn summary(&self, run: RunId) -> Result<Option<RunSummary>, StoreError>;

    /// Summaries of all runs, oldest first, from after `after`, at most `limit`.
    fn runs(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunSummary>, StoreError>;

    /// Runs that are marked as active, from after `after`, at most `limit`.
    fn ready(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunId>, StoreError>;

    /// Timers due up to and including `until`, earliest first, from after `after`, at most `limit`.
    fn due(&self, after: Option<&Due>, until: Timestamp, limit: usize) -> Result<Vec<Due>, StoreError>;

    /// The run's records with sequence numbers from `from`, at most `limit`.
    fn history(&self, run: RunId, from: u64, limit: usize) -> Result<Vec<StoredRecord>, StoreError>;

    /// Items of a stream of the run, among those that are kept. None if it has none, or there is no such stream or
    /// run.
    fn stream(
        &self,
        run: RunId,
        stream: &StreamNames,
        query: StreamQuery,
    ) -> Result<Vec<StoredItem>, StoreError>;

    /// Stored names of all flows that ever had a run here.
    fn flows(&self) -> Result<Vec<Name>, StoreError>;

    /// Why the store takes no commits, if it does not.
    fn fault(&self) -> Option<StoreError>;

    /// Makes use of a quiet moment, for what a store had better not do while much is written.
    ///
    /// The thread that writes calls it about once a second, as long as anything is written or the last call gave true:
    /// that it wants to be called again. What comes of it is never more than memory or time that is saved.
    fn settle(&self) -> bool {
        false
    }

    /// Ends the use of the store: what is in memory is written, so that the next opening is quick.
    ///
    /// Nothing that was durable is lost without this call. After it, all other calls answer
    /// [`StoreError::Unavailable`], and the data may be opened again.
    fn close(&self) -> Result<(), StoreError>;
}
