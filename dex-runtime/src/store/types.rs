//! What goes into a store and comes out of it.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::engine::Status;
use crate::ids::{Epoch, ExecutionNo, FlowId, Name, RunId};
use crate::time::Timestamp;

/// One transition of one run, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCommit {
    /// The run.
    pub run: RunId,
    /// The transition's sequence number, from 1. The store must hold exactly the ones below it.
    pub sequence: u64,
    /// The opening under which it was decided.
    pub epoch: Epoch,
    /// The transition: encoded events with their time, from [`record::encode_transition`](super::record::encode_transition).
    pub record: Bytes,
    /// The run's state after this transition, encoded, when it is time for one.
    pub snapshot: Option<Bytes>,
    /// The run's summary row, when it changes: at the start and at the end. With transition 1 the run
    /// becomes the newest one of its flow id.
    pub summary: Option<RunSummary>,
    /// Whether the run is active after this transition, when that changes.
    pub ready: Option<bool>,
    /// Timers that exist from here on.
    pub timers_set: Vec<(Timestamp, ExecutionNo)>,
    /// Timers that no longer do.
    pub timers_cleared: Vec<(Timestamp, ExecutionNo)>,
}

/// What lists show of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// What the caller called it.
    pub flow_id: FlowId,
    /// The stored name of its flow.
    pub flow: Name,
    /// Whether it goes on, or how it ended.
    pub status: Status,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub closed_at: Option<Timestamp>,
}

/// The newest run of a flow id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRun {
    /// The run.
    pub run: RunId,
    /// The stored name of its flow.
    pub flow: Name,
}

/// A run as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// The newest snapshot, with the sequence number of the last transition in it.
    pub snapshot: Option<(u64, Bytes)>,
    /// The records after the snapshot, oldest first, without a gap.
    pub records: Vec<StoredRecord>,
}

/// A transition as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// The transition's sequence number.
    pub sequence: u64,
    /// Its bytes.
    pub record: Bytes,
}

/// A timer that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Due {
    /// When.
    pub at: Timestamp,
    /// The run.
    pub run: RunId,
    /// The step execution.
    pub execution: ExecutionNo,
}

/// Why a store could not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another handle in this one, has the folder open.
    #[error("the store in `{}` is already in use: close the process that has it open, or use another folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("`{}` is not a dex store: {reason}; name an empty or new folder", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A later version of dex wrote the store.
    #[error("the store in `{}` has format {found}, this build reads up to {known}: use a newer build of dex", path.display())]
    NewerFormat {
        /// The folder.
        path: PathBuf,
        /// The store's format.
        found: u32,
        /// The highest format this build knows.
        known: u32,
    },
    /// The store is damaged.
    #[error("the store in `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The folder, or the file where it is known.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A stored record or key cannot be read.
    #[error("{what} cannot be read: {reason}")]
    Unreadable {
        /// Which.
        what: String,
        /// Why.
        reason: String,
    },
    /// A commit does not build on what the store has.
    #[error("run {run}: transition {sequence} does not follow what the store has ({found})")]
    Conflict {
        /// The run.
        run: RunId,
        /// The transition that was refused.
        sequence: u64,
        /// What the store has.
        found: String,
    },
    /// A later opening of the same data took over.
    #[error(
        "this opening of the store (epoch {epoch}) was superseded by a later one (epoch {latest}): let this one end"
    )]
    Fenced {
        /// The epoch under which the commit was decided.
        epoch: u64,
        /// The epoch that may write.
        latest: u64,
    },
    /// There is too little free space to go on safely. Commits are taken again once there is more.
    #[error("only {free} bytes are free for the store in `{}`, {needed} are needed: free some space", path.display())]
    DiskFull {
        /// The folder.
        path: PathBuf,
        /// Free bytes.
        free: u64,
        /// Bytes that must be free.
        needed: u64,
    },
    /// An earlier commit failed; the store takes none until it is opened again.
    #[error("the store takes no commits since one failed ({reason}): it must be opened again")]
    Unavailable {
        /// How it failed.
        reason: String,
    },
    /// The operating system reported an error.
    #[error("the store could not {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// The system's error.
        source: Arc<std::io::Error>,
    },
}

impl StoredRun {
    /// Puts a run together and checks that no transition is missing. `None` if there is nothing of it.
    pub(super) fn whole(
        run: RunId,
        snapshot: Option<(u64, Bytes)>,
        records: Vec<StoredRecord>,
    ) -> Result<Option<Self>, StoreError> {
        if snapshot.is_none() && records.is_empty() {
            return Ok(None);
        }
        let first = snapshot.as_ref().map_or(1, |(sequence, _)| sequence.saturating_add(1));
        match records.iter().zip(first..).find(|(record, expected)| record.sequence != *expected) {
            None => Ok(Some(Self { snapshot, records })),
            Some((record, expected)) => Err(StoreError::Unreadable {
                what: format!("run {run}"),
                reason: format!("transition {expected} is missing, {} comes next", record.sequence),
            }),
        }
    }
}

impl StoreError {
    /// Whether the store is as it was before the commit that got this error, and takes further commits.
    pub fn wrote_nothing(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::Fenced { .. } | Self::DiskFull { .. })
    }

    /// The refusal of `commit` by a store whose last transition of that run is `last` (0: it has none).
    pub(super) fn conflict(commit: &RunCommit, last: u64) -> Self {
        let found = match last {
            0 => "no such run".to_owned(),
            last => format!("{last} is the last"),
        };
        Self::Conflict { run: commit.run, sequence: commit.sequence, found }
    }

    /// An [`StoreError::Io`] for what was being done.
    pub fn io(doing: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { doing: doing.into(), source: Arc::new(source) }
    }
}
