//! Random commits against a model that is too simple to be wrong: the list of what was committed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::super::{Due, LiveRun, RunCommit, RunSummary, Store, StoredRecord};
use super::Subject;
use super::build::{at, flow_id, run_id, step, summary, timer};
use crate::engine::Status;
use crate::ids::RunId;
use crate::time::Timestamp;

/// Few, so that commits meet.
const RUNS: u64 = 4;

#[derive(Clone, Debug)]
enum Action {
    Commit { changes: Vec<Change>, durable: bool },
    Reopen { close: bool },
}

/// A commit, less what follows from those before it.
#[derive(Clone, Debug)]
struct Change {
    run: u64,
    /// Whether the sequence number is wrong.
    misfit: bool,
    snapshot: bool,
    ready: Option<bool>,
    closed: bool,
    set: Vec<u8>,
    cleared: Vec<Index>,
}

fn change() -> impl Strategy<Value = Change> {
    let timers = (vec(any::<u8>(), 0..3), vec(any::<Index>(), 0..2));
    (1..=RUNS, prop::bool::weighted(0.03), any::<[bool; 2]>(), any::<Option<bool>>(), timers).prop_map(
        |(run, misfit, [snapshot, closed], ready, (set, cleared))| Change {
            run,
            misfit,
            snapshot,
            ready,
            closed,
            set,
            cleared,
        },
    )
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (vec(change(), 1..5), any::<bool>())
            .prop_map(|(changes, durable)| Action::Commit { changes, durable }),
        1 => any::<bool>().prop_map(|close| Action::Reopen { close }),
    ]
}

/// Everything that was committed, in order.
#[derive(Clone, Default)]
struct Model(Vec<RunCommit>);

impl Model {
    fn of_run(&self, run: RunId) -> impl DoubleEndedIterator<Item = &RunCommit> {
        self.0.iter().filter(move |commit| commit.run == run)
    }

    fn last(&self, run: RunId) -> u64 {
        self.of_run(run).next_back().map_or(0, |commit| commit.sequence)
    }

    fn timers(&self) -> Vec<Due> {
        let mut timers = Vec::new();
        for commit in &self.0 {
            let due = |&(at, execution)| Due { at, run: commit.run, execution };
            timers.retain(|timer| !commit.timers_cleared.iter().any(|cleared| due(cleared) == *timer));
            timers.extend(commit.timers_set.iter().map(due));
        }
        timers.sort();
        timers.dedup();
        timers
    }

    fn ready(&self) -> Vec<RunId> {
        let active =
            |run: &RunId| self.of_run(*run).filter_map(|commit| commit.ready).next_back() == Some(true);
        (1..=RUNS).map(run_id).filter(active).collect()
    }

    fn summary(&self, run: RunId) -> Option<RunSummary> {
        self.of_run(run).filter_map(|commit| commit.summary.clone()).next_back()
    }

    fn snapshot(&self, run: RunId) -> Option<(u64, bytes::Bytes)> {
        let mut snapshots =
            self.of_run(run).filter_map(|commit| Some((commit.sequence, commit.snapshot.clone()?)));
        snapshots.next_back()
    }

    fn history(&self, run: RunId, from: u64) -> Vec<StoredRecord> {
        let stored =
            |commit: &RunCommit| StoredRecord { sequence: commit.sequence, record: commit.record.clone() };
        self.of_run(run).filter(|commit| commit.sequence >= from).map(stored).collect()
    }

    /// What `change` is after all that was committed.
    fn commit(&self, store: &dyn Store, change: &Change) -> RunCommit {
        let sequence = self.last(run_id(change.run)) + 1;
        let timers: Vec<_> = self.timers().into_iter().filter(|due| due.run == run_id(change.run)).collect();
        let cleared = change.cleared.iter().filter(|_| !timers.is_empty()).map(|place| {
            let due = place.get(&timers);
            (due.at, due.execution)
        });
        let id = format!("id-{}", change.run % 2);
        let mut row = summary(change.run, &id, "orders");
        if sequence > 1 && change.closed {
            (row.status, row.closed_at) = (Status::Completed, Some(at(50)));
        }
        RunCommit {
            snapshot: change.snapshot.then(|| format!("state at {sequence}").into()),
            ready: change.ready,
            summary: (sequence == 1 || change.closed).then_some(row),
            timers_set: change.set.iter().map(|n| timer(i64::from(*n), u64::from(*n % 3))).collect(),
            timers_cleared: cleared.collect(),
            ..step(store, change.run, if change.misfit { sequence + 1 } else { sequence })
        }
    }
}

/// Checks `cases` random lists of commits and openings.
pub(crate) fn check_against_model(cases: u32, make: impl Fn() -> Box<dyn Subject>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let actions = vec(action(), 1..20);
    let outcome = TestRunner::new(config).run(&actions, |actions| play(&mut *make(), &actions));
    outcome.unwrap();
}

fn play(subject: &mut dyn Subject, actions: &[Action]) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    let mut store = subject.open();
    for action in actions {
        match action {
            Action::Reopen { close } => {
                if *close {
                    store.close().unwrap();
                }
                drop(store);
                store = subject.open();
            }
            Action::Commit { changes, durable } => {
                let mut after = model.clone();
                for change in changes {
                    after.0.push(after.commit(&*store, change));
                }
                let committed = store.commit(&after.0[model.0.len()..], *durable);
                prop_assert_eq!(committed.is_ok(), changes.iter().all(|change| !change.misfit));
                if committed.is_ok() {
                    model = after;
                }
            }
        }
        compare(&*store, &model)?;
    }
    Ok(())
}

fn compare(store: &dyn Store, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!(store.ready(None, 99).unwrap(), model.ready());
    let timers = model.timers();
    prop_assert_eq!(&store.due(None, Timestamp::MAX, 999).unwrap(), &timers);
    if let Some(middle) = timers.get(timers.len() / 2) {
        let rest: Vec<_> = timers.iter().filter(|due| *due > middle && due.at <= at(200)).copied().collect();
        prop_assert_eq!(store.due(Some(middle), at(200), 999).unwrap(), rest);
    }
    let summaries: Vec<_> = (1..=RUNS).filter_map(|run| model.summary(run_id(run))).collect();
    prop_assert_eq!(store.runs(None, 99).unwrap(), summaries);
    for n in 0..2 {
        let id = flow_id(&format!("id-{n}"));
        let mut starts =
            model.0.iter().filter(|commit| commit.sequence == 1).filter_map(|c| c.summary.as_ref());
        let newest = starts.rfind(|summary| summary.flow_id == id);
        let newest = newest.map(|summary| LiveRun { run: summary.run, flow: summary.flow.clone() });
        prop_assert_eq!(store.live(&id).unwrap(), newest);
    }
    for run in (1..=RUNS).map(run_id) {
        prop_assert_eq!(store.summary(run).unwrap(), model.summary(run));
        prop_assert_eq!(store.history(run, 2, 99).unwrap(), model.history(run, 2));
        let stored = store.load(run).unwrap();
        prop_assert_eq!(stored.is_some(), model.last(run) > 0);
        if let Some(stored) = stored {
            let from = model.snapshot(run).map_or(1, |(sequence, _)| sequence + 1);
            prop_assert_eq!(stored.snapshot, model.snapshot(run));
            prop_assert_eq!(stored.records, model.history(run, from));
        }
    }
    Ok(())
}
