//! Commits: what one becomes in the database.
//!
//! An ordinary transition is one key. To that come one mark for each keyspace that a batch touches,
//! however many transitions it has.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use fjall::{Database, OwnedWriteBatch, PersistMode};

use super::super::{Due, LiveRun, RunCommit, StoreError, StreamAppend, keys, record};
use super::keyspaces::{Keyspaces, Marks, Part};
use super::read::View;
use super::recent::Recent;
use super::settle::{InMemory, Next, Settling};
use super::space::Space;
use super::streams::{Appends, Heads};
use super::watermark::{Watermark, WatermarkFile};
use crate::ids::{Name, RunId};

/// Room in a batch for marks and for the rows of a run that starts, without growing.
const ROOM_FOR_ROWS: usize = 16;

/// Runs in each of the two generations whose last sequence number is known: about 2 MiB of memory in all.
///
/// Enough for every run that takes part in one merged commit, many times over.
const SEQUENCES_MAX: usize = 32 * 1024;

/// What is written at once.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) commits: &'a [RunCommit],
    pub(super) appends: &'a [StreamAppend],
}

/// What the committing thread keeps between commits.
#[derive(Debug)]
pub(super) struct Writer {
    /// What the database has; durable once it is synced.
    written: Watermark,
    watermark: WatermarkFile,
    /// The last sequence number of runs that were written lately.
    last: Recent<RunId, u64>,
    heads: Heads,
    flows: HashSet<Name>,
    space: Space,
    settling: Settling,
}

impl Writer {
    pub(super) fn new(written: Watermark, watermark: WatermarkFile, flows: Vec<Name>, space: Space) -> Self {
        Self {
            written,
            watermark,
            last: Recent::new(SEQUENCES_MAX),
            heads: Heads::new(),
            flows: flows.into_iter().collect(),
            space,
            settling: Settling::default(),
        }
    }

    pub(super) fn commit(
        &mut self,
        database: &Database,
        keyspaces: &Keyspaces,
        Batch { commits, appends }: Batch<'_>,
        durable: bool,
    ) -> Result<Vec<u64>, StoreError> {
        if commits.is_empty() && appends.is_empty() {
            if durable {
                self.sync(database)?;
            }
            return Ok(Vec::new());
        }
        self.space.check()?;
        let view = View::now(database, keyspaces);
        let last = self.check_sequences(&view, commits)?;
        let mut appends = self.heads.plan(&view, appends)?;
        let batch = OwnedWriteBatch::with_capacity(database.clone(), commits.len() + ROOM_FOR_ROWS);
        let mut batch = batch.durability(Some(persistence(durable)));
        let changes = Changes::of(commits, &self.flows);
        let marks = fill(&mut batch, keyspaces, self.written.marks, commits, &appends, changes);
        batch.commit().map_err(commit_error)?;

        self.written.marks = marks;
        for (run, sequence) in last {
            self.last.set(run, sequence);
        }
        let bytes: u64 = commits.iter().map(|commit| commit.record.len() as u64).sum();
        self.space.wrote(bytes + appends.bytes);
        self.settling.wrote(bytes + appends.bytes);
        let offsets = std::mem::take(&mut appends.offsets);
        self.heads.wrote(appends);
        self.flows.extend(started_flows(commits).cloned());
        if durable {
            self.watermark.write(&self.written)?;
        }
        keyspaces.begin_full_tables(marks.changed())?;
        Ok(offsets)
    }

    /// Writes down that this opening was closed.
    pub(super) fn note_closed(
        &mut self,
        database: &Database,
        keyspaces: &Keyspaces,
    ) -> Result<(), StoreError> {
        self.write_meta(database, keyspaces, Some((keys::CLOSED, self.written.epoch)))
    }

    /// Gives memory back if it is quiet. Whether to look again although nothing is written.
    pub(super) fn settle(&mut self, database: &Database, keyspaces: &Keyspaces) -> Result<bool, StoreError> {
        let memory = InMemory { rows: database.write_buffer_size(), is_flushing: keyspaces.is_flushing() };
        match self.settling.look(memory) {
            Next::Nothing => return Ok(false),
            Next::Look => {}
            Next::Flush => {
                // The smallest is left for later: there is always something in it to begin a table with then.
                let mut parts = Part::ALL.into_iter().filter(|part| *part != Part::Meta);
                parts.try_for_each(|part| keyspaces.begin_table(part))?;
            }
            Next::LetGo => {
                self.last.forget();
                self.write_meta(database, keyspaces, None)?;
                keyspaces.begin_table(Part::Meta)?;
            }
        }
        Ok(true)
    }

    /// Writes a row of the store's own, if there is one, and the mark that goes with it.
    fn write_meta(
        &mut self,
        database: &Database,
        keyspaces: &Keyspaces,
        row: Option<(&[u8], u64)>,
    ) -> Result<(), StoreError> {
        let mut marks = self.written.marks;
        let sequence = marks.next();
        marks.set(Part::Meta, sequence);
        let batch = OwnedWriteBatch::with_capacity(database.clone(), 2);
        let mut batch = batch.durability(Some(persistence(false)));
        if let Some((key, number)) = row {
            batch.insert(&keyspaces.meta, key, number.to_be_bytes());
        }
        batch.insert(&keyspaces.meta, keys::MARK, sequence.to_be_bytes());
        batch.commit().map_err(commit_error)?;
        self.written.marks = marks;
        Ok(())
    }

    /// Makes durable what was committed without.
    pub(super) fn sync(&mut self, database: &Database) -> Result<(), StoreError> {
        database.persist(PersistMode::SyncAll).map_err(commit_error)?;
        self.watermark.write(&self.written)?;
        self.watermark.sync()
    }

    /// Checks that each commit follows the run's last transition, stored or in the same batch. Gives the
    /// last sequence number of each run after the batch.
    fn check_sequences(
        &self,
        view: &View<'_>,
        commits: &[RunCommit],
    ) -> Result<HashMap<RunId, u64>, StoreError> {
        let mut last = HashMap::with_capacity(commits.len());
        for commit in commits {
            let last = match last.entry(commit.run) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(match self.last.get(&commit.run) {
                    Some(last) => *last,
                    None => view.last_sequence(commit.run)?,
                }),
            };
            if Some(commit.sequence) != last.checked_add(1) {
                return Err(StoreError::conflict(commit, *last));
            }
            *last = commit.sequence;
        }
        Ok(last)
    }
}

/// How far a batch is written before its commit returns: to the disk, or out of the process.
fn persistence(durable: bool) -> PersistMode {
    if durable { PersistMode::SyncData } else { PersistMode::Buffer }
}

/// Puts a batch together. Gives the marks after it.
fn fill(
    batch: &mut OwnedWriteBatch,
    keyspaces: &Keyspaces,
    mut marks: Marks,
    commits: &[RunCommit],
    appends: &Appends,
    changes: Changes,
) -> Marks {
    let sequence = marks.next();
    if !commits.is_empty() {
        marks.set(Part::Events, sequence);
    }
    if !appends.is_empty() {
        marks.set(Part::Streams, sequence);
        appends.fill(batch, keyspaces);
    }
    for commit in commits {
        batch.insert(&keyspaces.events, keys::event(commit.run, commit.sequence), &commit.record[..]);
    }
    for ((part, key), value) in changes.0 {
        marks.set(part, sequence);
        match value {
            Some(value) => batch.insert(keyspaces.get(part), key, &value[..]),
            None => batch.remove(keyspaces.get(part), key),
        }
    }
    for part in marks.changed() {
        batch.insert(keyspaces.get(part), keys::MARK, sequence.to_be_bytes());
    }
    marks
}

/// What a batch changes beside events, by key.
///
/// A map, because all of a batch has one version in the database: of two changes of one key in a batch
/// only the later may get there.
struct Changes(BTreeMap<(Part, Vec<u8>), Option<Bytes>>);

impl Changes {
    fn of(commits: &[RunCommit], known_flows: &HashSet<Name>) -> Self {
        let mut changes = Self(BTreeMap::new());
        for commit in commits {
            changes.add(commit);
        }
        for flow in started_flows(commits).filter(|flow| !known_flows.contains(*flow)) {
            changes.put(Part::Meta, keys::flow(flow), Bytes::new());
        }
        changes
    }

    fn add(&mut self, commit: &RunCommit) {
        let run = commit.run;
        if let Some(snapshot) = &commit.snapshot {
            let row = record::encode_snapshot_row(commit.sequence, snapshot);
            self.put(Part::Snapshots, keys::run(run), row);
        }
        if let Some(summary) = &commit.summary {
            self.put(Part::Runs, keys::run(run), record::encode_summary(summary));
            if commit.sequence == 1 {
                let live = LiveRun { run, flow: summary.flow.clone() };
                self.put(Part::Live, keys::live(&summary.flow_id), record::encode_live(&live));
            }
        }
        match commit.ready {
            Some(true) => self.put(Part::Ready, keys::run(run), Bytes::new()),
            Some(false) => self.remove(Part::Ready, keys::run(run)),
            None => {}
        }
        for &(at, execution) in &commit.timers_cleared {
            self.remove(Part::Timers, keys::timer(&Due { at, run, execution }));
        }
        for &(at, execution) in &commit.timers_set {
            self.put(Part::Timers, keys::timer(&Due { at, run, execution }), Bytes::new());
        }
    }

    fn put(&mut self, part: Part, key: impl Into<Vec<u8>>, value: Bytes) {
        self.0.insert((part, key.into()), Some(value));
    }

    fn remove(&mut self, part: Part, key: impl Into<Vec<u8>>) {
        self.0.insert((part, key.into()), None);
    }
}

/// The flows of runs that start in `commits`.
fn started_flows(commits: &[RunCommit]) -> impl Iterator<Item = &Name> {
    let starts = commits.iter().filter(|commit| commit.sequence == 1);
    starts.filter_map(|commit| commit.summary.as_ref()).map(|summary| &summary.flow)
}

fn commit_error(error: fjall::Error) -> StoreError {
    match error {
        fjall::Error::Io(source) => StoreError::io("write the journal", source),
        fjall::Error::Poisoned => StoreError::Unavailable {
            reason: "an earlier write failed, which is what a full disk or a failing one looks like".into(),
        },
        other => StoreError::io("commit", std::io::Error::other(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Epoch, ExecutionNo};
    use crate::time::Timestamp;

    fn step() -> RunCommit {
        RunCommit {
            run: RunId::from_bytes([1; 16]),
            sequence: 2,
            epoch: Epoch(1),
            record: Bytes::from_static(b"record"),
            snapshot: None,
            summary: None,
            ready: None,
            timers_set: Vec::new(),
            timers_cleared: Vec::new(),
        }
    }

    #[test]
    fn an_ordinary_transition_changes_nothing_beside_its_event() {
        assert!(Changes::of(&[step(), step()], &HashSet::new()).0.is_empty());
    }

    #[test]
    fn an_ordinary_transition_is_one_key_and_a_batch_of_them_one_more() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::builder(folder.path()).open().unwrap();
        let keyspaces = Keyspaces::open(&database, &super::super::FjallOptions::default()).unwrap();
        let commits: Vec<_> = (2..102).map(|sequence| RunCommit { sequence, ..step() }).collect();
        let view = View::now(&database, &keyspaces);
        let appends = Heads::new().plan(&view, &[]).unwrap();
        let mut batch = OwnedWriteBatch::with_capacity(database.clone(), 0);
        let changes = Changes::of(&commits, &HashSet::new());
        fill(&mut batch, &keyspaces, Marks::default(), &commits, &appends, changes);
        assert_eq!(batch.len(), commits.len() + 1);
    }

    // Whether a sync reached the disk cannot be seen from here; that one is asked for can.
    #[test]
    fn a_durable_commit_is_synced_and_any_other_leaves_the_process() {
        assert_eq!(persistence(true), PersistMode::SyncData);
        assert_eq!(persistence(false), PersistMode::Buffer);
    }

    #[test]
    fn what_changes_is_one_row_each() {
        let timer = (Timestamp::from_micros(5), ExecutionNo(1));
        let commit = RunCommit { ready: Some(false), timers_set: vec![timer], ..step() };
        let changes = Changes::of(&[commit], &HashSet::new()).0;
        let parts: Vec<_> = changes.keys().map(|(part, _)| *part).collect();
        assert_eq!(parts, [Part::Ready, Part::Timers]);
    }
}
