//! A store in memory, for tests: it behaves like one on disk and can be told to fail.
//!
//! The data belongs to all openings made of one another with [`MemoryStore::reopen`], as a folder belongs
//! to the processes that open it one after the other. What a "crash" leaves is what was committed, and what
//! a "power loss" leaves is what was committed up to the last durable commit.

mod data;
mod faults;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::data::Data;
pub use self::faults::{FailAt, Gate};
use self::faults::{Fault, Faults, GateState};
use super::{
    Due, LiveRun, RunCommit, RunSummary, Store, StoreError, StoredItem, StoredRecord, StoredRun,
    StreamAppend, StreamNames, StreamQuery,
};
use crate::ids::{Epoch, FlowId, Name, RunId};
use crate::time::Timestamp;

/// A store whose data ends with the process.
#[derive(Debug)]
pub struct MemoryStore {
    disk: Arc<Disk>,
    epoch: Epoch,
    was_closed: bool,
    /// Why this opening takes no commits, if it does not.
    fault: Mutex<Option<StoreError>>,
}

/// What all openings share.
#[derive(Debug, Default)]
struct Disk {
    kept: Mutex<Kept>,
    gate: Arc<GateState>,
}

#[derive(Debug, Default)]
struct Kept {
    epoch: u64,
    /// The latest opening that was closed.
    closed: u64,
    /// What readers see and what the end of a process leaves.
    written: Data,
    /// What the end of power leaves, if that matters to anyone.
    power: Option<Power>,
    faults: Faults,
}

/// What the end of power would leave: a second copy of what is stored.
#[derive(Debug, Default)]
struct Power {
    durable: Data,
    /// Commits that are written and not durable.
    unsynced: Vec<RunCommit>,
    /// The same for what was appended to streams.
    unsynced_appends: Vec<StreamAppend>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// A new store with nothing in it.
    pub fn new() -> Self {
        let kept = Kept { power: Some(Power::default()), ..Kept::default() };
        Self::open(Arc::new(Disk { kept: Mutex::new(kept), gate: Arc::default() }))
    }

    /// As [`new`](Self::new), for who never asks what a power loss would leave: at half the cost, since nothing is
    /// kept twice.
    pub fn without_power_loss() -> Self {
        Self::open(Arc::default())
    }

    /// Opens the same data again, as after the end of this store's process. This opening is fenced off.
    #[must_use]
    pub fn reopen(&self) -> Self {
        Self::open(Arc::clone(&self.disk))
    }

    /// Opens the same data again, as after the machine lost power: commits after the last durable one are
    /// gone. None are, of a store [without power loss](Self::without_power_loss).
    #[must_use]
    pub fn reopen_after_power_loss(&self) -> Self {
        let mut kept = lock(&self.disk.kept);
        if let Some(power) = &mut kept.power {
            power.unsynced.clear();
            power.unsynced_appends.clear();
            kept.written = power.durable.clone();
        }
        drop(kept);
        self.reopen()
    }

    fn open(disk: Arc<Disk>) -> Self {
        let (epoch, was_closed) = {
            let mut kept = lock(&disk.kept);
            let was_closed = kept.closed == kept.epoch;
            kept.epoch += 1;
            (Epoch(kept.epoch), was_closed)
        };
        Self { disk, epoch, was_closed, fault: Mutex::new(None) }
    }

    /// Makes the `nth` commit from now on fail (1: the next one), before or after it is written.
    pub fn fail_commit(&self, nth: u64, at: FailAt) {
        lock(&self.disk.kept).faults.fail(nth, at);
    }

    /// Takes back what [`fail_commit`](Self::fail_commit) planned and has not happened yet.
    pub fn forget_failures(&self) {
        lock(&self.disk.kept).faults.forget();
    }

    /// While `full`, commits are refused with [`StoreError::DiskFull`].
    pub fn set_disk_full(&self, full: bool) {
        lock(&self.disk.kept).faults.disk_full = full;
    }

    /// Stops commits before they are written, until the gate is opened or dropped.
    #[must_use = "dropping the gate opens it"]
    pub fn gate(&self) -> Gate {
        Gate::close(&self.disk.gate)
    }

    /// Commits that were taken so far, over all openings.
    pub fn commits(&self) -> u64 {
        lock(&self.disk.kept).faults.taken()
    }

    fn read<T>(&self, what: impl FnOnce(&Data) -> T) -> Result<T, StoreError> {
        // Let go before the data is locked: a commit that fails takes the two the other way round.
        let closed = matches!(self.fault(), Some(StoreError::Unavailable { reason }) if reason == CLOSED);
        if closed {
            return Err(StoreError::Unavailable { reason: CLOSED.into() });
        }
        Ok(what(&lock(&self.disk.kept).written))
    }

    fn fail(&self, reason: &str) -> StoreError {
        let error = StoreError::Unavailable { reason: reason.into() };
        lock(&self.fault).get_or_insert(error).clone()
    }
}

const CLOSED: &str = "it was closed";

/// A test that panicked while it held the lock is reported as such; others go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn write(
        &mut self,
        commits: &[RunCommit],
        appends: &[StreamAppend],
        durable: bool,
    ) -> Result<Vec<u64>, StoreError> {
        let latest = self.epoch;
        let epochs =
            commits.iter().map(|commit| commit.epoch).chain(appends.iter().map(|append| append.epoch));
        if let Some(stale) = epochs.into_iter().find(|epoch| epoch.0 != latest) {
            return Err(StoreError::Fenced { epoch: stale.0, latest });
        }
        self.written.check(commits)?;
        self.written.apply(commits);
        let offsets = self.written.append(appends);
        if let Some(power) = &mut self.power {
            power.unsynced.extend_from_slice(commits);
            power.unsynced_appends.extend_from_slice(appends);
            if durable {
                power.sync();
            }
        }
        Ok(offsets)
    }
}

impl Power {
    fn sync(&mut self) {
        let (commits, appends) =
            (std::mem::take(&mut self.unsynced), std::mem::take(&mut self.unsynced_appends));
        self.durable.apply(&commits);
        self.durable.append(&appends);
    }
}

impl Store for MemoryStore {
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
        self.disk.gate.pass();
        let mut kept = lock(&self.disk.kept);
        if self.epoch.0 != kept.epoch {
            return Err(StoreError::Fenced { epoch: self.epoch.0, latest: kept.epoch });
        }
        match kept.faults.next() {
            Fault::None => kept.write(commits, appends, durable),
            Fault::DiskFull => {
                Err(StoreError::DiskFull { path: PathBuf::from("memory"), free: 0, needed: 1 })
            }
            Fault::Fail(FailAt::BeforeWriting) => Err(self.fail("a test made a commit fail")),
            Fault::Fail(FailAt::AfterWriting) => {
                kept.write(commits, appends, durable)?;
                Err(self.fail("a test made a commit fail after it was written"))
            }
        }
    }

    fn load(&self, run: RunId) -> Result<Option<StoredRun>, StoreError> {
        self.read(|data| data.load(run))?
    }

    fn live(&self, flow_id: &FlowId) -> Result<Option<LiveRun>, StoreError> {
        self.read(|data| data.live.get(flow_id).cloned())
    }

    fn summary(&self, run: RunId) -> Result<Option<RunSummary>, StoreError> {
        self.read(|data| data.runs.get(&run).cloned())
    }

    fn runs(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunSummary>, StoreError> {
        self.read(|data| data.runs_after(after, limit))
    }

    fn ready(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunId>, StoreError> {
        self.read(|data| data.ready_after(after, limit))
    }

    fn due(&self, after: Option<&Due>, until: Timestamp, limit: usize) -> Result<Vec<Due>, StoreError> {
        self.read(|data| data.due_after(after, until, limit))
    }

    fn history(&self, run: RunId, from: u64, limit: usize) -> Result<Vec<StoredRecord>, StoreError> {
        self.read(|data| data.history(run, from, limit))
    }

    fn stream(
        &self,
        run: RunId,
        stream: &StreamNames,
        query: StreamQuery,
    ) -> Result<Vec<StoredItem>, StoreError> {
        self.read(|data| data.stream(run, stream, query))
    }

    fn flows(&self) -> Result<Vec<Name>, StoreError> {
        self.read(|data| data.flows.iter().cloned().collect())
    }

    fn fault(&self) -> Option<StoreError> {
        lock(&self.fault).clone()
    }

    fn close(&self) -> Result<(), StoreError> {
        *lock(&self.fault) = Some(StoreError::Unavailable { reason: CLOSED.into() });
        let mut kept = lock(&self.disk.kept);
        if let Some(power) = &mut kept.power {
            power.sync();
        }
        if kept.epoch == self.epoch.0 {
            kept.closed = self.epoch.0;
        }
        Ok(())
    }
}
