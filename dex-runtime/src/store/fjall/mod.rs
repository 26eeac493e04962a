//! The store on one machine: an LSM database in a folder, with what it needs around it.
//!
//! ```text
//! <folder>/dex-store          says what the folder is, and its format
//! <folder>/lock               held while the store is open
//! <folder>/data/              the database: journals, tables, and our watermark
//! ```
//!
//! The database makes batches atomic and durable. What it leaves to us: one writer a folder (`folder`),
//! noticing that acknowledged batches are gone (`watermark`), damage that its opening would take for
//! something harmless (`inspect`), stopping before the disk is full (`space`), and getting a store to open
//! again that does not (`repair`).
//!
//! This folder knows keys and records only by the functions of `keys` and `record`, and nothing of what a
//! run may do.

mod create;
mod folder;
mod inspect;
mod keyspaces;
mod open;
mod options;
mod read;
mod recent;
mod repair;
mod settle;
mod space;
mod streams;
mod watermark;
mod write;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

pub use self::options::FjallOptions;
pub use self::repair::{RepairReport, repair};

use self::folder::FolderLock;
use self::keyspaces::Keyspaces;
use self::read::View;
use self::write::{Batch, Writer};
use super::{
    Due, LiveRun, RunCommit, RunSummary, Store, StoreError, StoredItem, StoredRecord, StoredRun,
    StreamAppend, StreamNames, StreamQuery,
};
use crate::ids::{Epoch, FlowId, Name, RunId};
use crate::time::Timestamp;

/// A store in a folder of this machine. One process at a time has it open.
#[derive(Debug)]
pub struct FjallStore {
    path: PathBuf,
    epoch: Epoch,
    was_closed: bool,
    /// `None` once it is closed.
    open: RwLock<Option<Open>>,
    /// Taken by whoever commits, for the whole commit.
    writer: Mutex<Writer>,
    /// Why no commits are taken, if none are.
    fault: Mutex<Option<StoreError>>,
}

/// What is given back when the store is closed. The lock comes last: it is released when all else is.
struct Open {
    keyspaces: Keyspaces,
    database: ::fjall::Database,
    _lock: FolderLock,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").finish_non_exhaustive()
    }
}

impl FjallStore {
    /// Opens the store in the folder `path`, or makes one if the folder is empty or does not exist.
    ///
    /// A folder that another process has open is waited for, for two seconds.
    ///
    /// # Errors
    ///
    /// - [`StoreError::InUse`]: another process, or another handle in this one, has it open.
    /// - [`StoreError::Foreign`]: the folder holds something else; it was not touched.
    /// - [`StoreError::NewerFormat`]: a later version of dex wrote it.
    /// - [`StoreError::Damaged`]: a file is damaged, or commits that were acknowledged are gone. The store
    ///   does not open until that is looked into; [`repair()`] may help.
    /// - [`StoreError::Io`]: the system refused.
    pub fn open(path: impl AsRef<Path>, options: FjallOptions) -> Result<Self, StoreError> {
        open::open(path.as_ref(), options)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read<T>(&self, what: impl FnOnce(&View<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let open = self.reading();
        let open = opened(open.as_ref())?;
        what(&View::now(&open.database, &open.keyspaces))
    }

    /// A panic elsewhere leaves what this lock guards whole: it is only ever replaced.
    fn reading(&self) -> RwLockReadGuard<'_, Option<Open>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn opened(open: Option<&Open>) -> Result<&Open, StoreError> {
    open.ok_or_else(|| StoreError::Unavailable { reason: "it was closed".into() })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for FjallStore {
    fn epoch(&self) -> Epoch {
        self.epoch
    }

    fn was_closed(&self) -> bool {
        self.was_closed
    }

    fn write(
        &self,
        commits: &[RunCommit],
        appends: &[StreamAppend],
        durable: bool,
    ) -> Result<Vec<u64>, StoreError> {
        if let Some(fault) = self.fault() {
            return Err(fault);
        }
        let open = self.reading();
        let open = opened(open.as_ref())?;
        let mut epochs =
            commits.iter().map(|commit| commit.epoch).chain(appends.iter().map(|append| append.epoch));
        if let Some(stale) = epochs.find(|epoch| *epoch != self.epoch) {
            return Err(StoreError::Fenced { epoch: stale.0, latest: self.epoch.0 });
        }
        // A panic during a commit leaves its outcome unknown, as an error does.
        let Ok(mut writer) = self.writer.lock() else {
            return Err(self.fail("a commit panicked"));
        };
        let written = writer.commit(&open.database, &open.keyspaces, Batch { commits, appends }, durable);
        written.inspect_err(|error| {
            if !error.wrote_nothing() {
                self.fail(error);
            }
        })
    }

    fn load(&self, run: RunId) -> Result<Option<StoredRun>, StoreError> {
        self.read(|view| view.load(run))
    }

    fn live(&self, flow_id: &FlowId) -> Result<Option<LiveRun>, StoreError> {
        self.read(|view| view.live(flow_id))
    }

    fn summary(&self, run: RunId) -> Result<Option<RunSummary>, StoreError> {
        self.read(|view| view.summary(run))
    }

    fn runs(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunSummary>, StoreError> {
        self.read(|view| view.runs(after, limit))
    }

    fn ready(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunId>, StoreError> {
        self.read(|view| view.ready(after, limit))
    }

    fn due(&self, after: Option<&Due>, until: Timestamp, limit: usize) -> Result<Vec<Due>, StoreError> {
        self.read(|view| view.due(after, until, limit))
    }

    fn history(&self, run: RunId, from: u64, limit: usize) -> Result<Vec<StoredRecord>, StoreError> {
        self.read(|view| view.history(run, from, limit))
    }

    fn stream(
        &self,
        run: RunId,
        stream: &StreamNames,
        query: StreamQuery,
    ) -> Result<Vec<StoredItem>, StoreError> {
        self.read(|view| view.stream(run, stream, query))
    }

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method's path is not general over the view's lifetime"
    )]
    fn flows(&self) -> Result<Vec<Name>, StoreError> {
        self.read(|view| view.flows())
    }

    fn fault(&self) -> Option<StoreError> {
        lock(&self.fault).clone()
    }

    fn settle(&self) -> bool {
        let open = self.reading();
        let (Some(open), None) = (open.as_ref(), self.fault()) else { return false };
        let Ok(mut writer) = self.writer.lock() else { return false };
        // Where the disk or the database has failed, the next commit tells why.
        writer.settle(&open.database, &open.keyspaces).map_err(|error| self.fail(error)).unwrap_or(false)
    }

    fn close(&self) -> Result<(), StoreError> {
        let Some(open) = self.open.write().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        let healthy = self.fault().is_none();
        self.fail("it was closed");
        // After a failed commit what is in memory may not be in the journal: it must not get into tables.
        if !healthy {
            return Ok(());
        }
        let mut writer = lock(&self.writer);
        writer.note_closed(&open.database, &open.keyspaces)?;
        writer.sync(&open.database)?;
        open.keyspaces.flush()
    }
}

impl FjallStore {
    fn fail(&self, reason: impl std::fmt::Display) -> StoreError {
        let error = StoreError::Unavailable { reason: reason.to_string() };
        lock(&self.fault).get_or_insert(error).clone()
    }
}
