//! What is stored, as ordered tables.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use bytes::Bytes;
use rustc_hash::FxBuildHasher;

use super::super::{
    Due, LiveRun, RunCommit, RunSummary, StoreError, StoredItem, StoredRecord, StoredRun, StreamAppend,
    StreamFrom, StreamHead, StreamNames, StreamQuery,
};
use crate::ids::{FlowId, Name, RunId, RunMap};
use crate::time::Timestamp;

/// Everything of a store. A copy is cheap enough for tests: records are shared.
#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    /// The records of each run: the first one is number 1, and none is left out.
    pub(super) events: BTreeMap<RunId, Vec<Bytes>>,
    pub(super) snapshots: BTreeMap<RunId, (u64, Bytes)>,
    pub(super) runs: BTreeMap<RunId, RunSummary>,
    pub(super) live: BTreeMap<FlowId, LiveRun>,
    pub(super) ready: BTreeSet<RunId>,
    pub(super) timers: BTreeSet<Due>,
    pub(super) flows: BTreeSet<Name>,
    pub(super) streams: BTreeMap<(RunId, Name), Stream>,
}

/// A stream that has ever had an item.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    head: StreamHead,
    items: BTreeMap<u64, Bytes>,
}

impl Data {
    fn last(&self, run: RunId) -> u64 {
        self.events.get(&run).map_or(0, |records| records.len() as u64)
    }

    /// Whether each commit follows the run's last transition, stored or in the same list.
    pub(super) fn check(&self, commits: &[RunCommit]) -> Result<(), StoreError> {
        let mut last = RunMap::with_capacity_and_hasher(commits.len(), FxBuildHasher);
        for commit in commits {
            let last = last.entry(commit.run).or_insert_with(|| self.last(commit.run));
            if Some(commit.sequence) != last.checked_add(1) {
                return Err(StoreError::conflict(commit, *last));
            }
            *last = commit.sequence;
        }
        Ok(())
    }

    pub(super) fn apply(&mut self, commits: &[RunCommit]) {
        for commit in commits {
            self.apply_one(commit);
        }
    }

    fn apply_one(&mut self, commit: &RunCommit) {
        let run = commit.run;
        self.events.entry(run).or_default().push(commit.record.clone());
        if let Some(snapshot) = &commit.snapshot {
            self.snapshots.insert(run, (commit.sequence, snapshot.clone()));
        }
        if let Some(summary) = &commit.summary {
            self.runs.insert(run, summary.clone());
            if commit.sequence == 1 {
                let live = LiveRun { run, flow: summary.flow.clone() };
                self.live.insert(summary.flow_id.clone(), live);
                self.flows.insert(summary.flow.clone());
            }
        }
        match commit.ready {
            Some(true) => drop(self.ready.insert(run)),
            Some(false) => drop(self.ready.remove(&run)),
            None => {}
        }
        for &(at, execution) in &commit.timers_cleared {
            self.timers.remove(&Due { at, run, execution });
        }
        for &(at, execution) in &commit.timers_set {
            self.timers.insert(Due { at, run, execution });
        }
    }

    /// Appends each item to its stream and gives its offset.
    pub(super) fn append(&mut self, appends: &[StreamAppend]) -> Vec<u64> {
        appends.iter().map(|append| self.append_one(append)).collect()
    }

    fn append_one(&mut self, append: &StreamAppend) -> u64 {
        let name = self.stream_name(append.run, &append.stream).unwrap_or(append.stream.name()).clone();
        let empty = || Stream { head: StreamHead::EMPTY, items: BTreeMap::new() };
        let Stream { head, items } = self.streams.entry((append.run, name)).or_insert_with(empty);
        let offset = head.push(&append.record);
        items.insert(offset, append.record.clone());
        while let Some(oldest) = head.surplus(append.capacity) {
            head.pop(items.remove(&oldest).map_or(0, |record| record.len()));
        }
        offset
    }

    /// The name under which the run has the stream.
    fn stream_name<'a>(&self, run: RunId, stream: &'a StreamNames) -> Option<&'a Name> {
        stream.all().iter().find(|name| self.streams.contains_key(&(run, (*name).clone())))
    }

    pub(super) fn stream(&self, run: RunId, stream: &StreamNames, query: StreamQuery) -> Vec<StoredItem> {
        let found = self.stream_name(run, stream);
        let Some(Stream { head, items }) = found.and_then(|name| self.streams.get(&(run, name.clone())))
        else {
            return Vec::new();
        };
        let range = head.range(query.from);
        if range.is_empty() {
            return Vec::new();
        }
        let item = |(offset, record): (&u64, &Bytes)| {
            Ok::<_, std::convert::Infallible>(StoredItem { offset: *offset, record: record.clone() })
        };
        let items = items.range(range).map(item);
        let Ok(items) = match query.from {
            StreamFrom::After(_) => query.collect(items),
            StreamFrom::Before(_) => query.collect(items.rev()),
        };
        items
    }

    pub(super) fn load(&self, run: RunId) -> Result<Option<StoredRun>, StoreError> {
        let snapshot = self.snapshots.get(&run).cloned();
        let from = snapshot.as_ref().map_or(1, |(sequence, _)| sequence.saturating_add(1));
        StoredRun::whole(run, snapshot, self.history(run, from, usize::MAX))
    }

    pub(super) fn history(&self, run: RunId, from: u64, limit: usize) -> Vec<StoredRecord> {
        let records = self.events.get(&run).map_or(&[][..], Vec::as_slice);
        let from = from.max(1);
        let skipped = usize::try_from(from - 1).unwrap_or(usize::MAX);
        let records = records.get(skipped..).unwrap_or_default();
        let stored = |(sequence, record): (u64, &Bytes)| StoredRecord { sequence, record: record.clone() };
        (from..).zip(records).take(limit).map(stored).collect()
    }

    pub(super) fn runs_after(&self, after: Option<RunId>, limit: usize) -> Vec<RunSummary> {
        self.runs.range(from(after)).take(limit).map(|(_, summary)| summary.clone()).collect()
    }

    pub(super) fn ready_after(&self, after: Option<RunId>, limit: usize) -> Vec<RunId> {
        self.ready.range(from(after)).take(limit).copied().collect()
    }

    pub(super) fn due_after(&self, after: Option<&Due>, until: Timestamp, limit: usize) -> Vec<Due> {
        let due = self.timers.range(from(after.copied()));
        due.take_while(|due| due.at <= until).take(limit).copied().collect()
    }
}

fn from<T>(after: Option<T>) -> (Bound<T>, Bound<T>) {
    (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)
}
