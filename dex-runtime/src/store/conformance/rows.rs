//! Rows of runs and flow ids: live, ready, runs, flows.

use super::build::{at, commit, flow_id, run_id, start, start_as, step, summary};
use super::{Case, Subject};
use crate::engine::Status;
use crate::ids::Name;
use crate::store::{LiveRun, RunCommit, RunSummary, Store};

pub(super) const CASES: &[Case] = &[
    ("a flow id names its newest run, open or closed", live_is_the_newest),
    ("the end of an older run does not change the newest", end_of_an_older_run),
    ("flow ids that begin alike are told apart", live_prefixes),
    ("the ready mark follows the last change", ready_marks),
    ("runs are listed oldest first, page by page", runs_by_page),
    ("a summary is the last one written", summary_is_the_last),
    ("flows are listed once each", flows_once),
];

fn live(store: &dyn Store, id: &str) -> Option<LiveRun> {
    store.live(&flow_id(id)).expect("live reads")
}

fn live_is_the_newest(subject: &mut dyn Subject) {
    let store = &*subject.open();
    assert_eq!(live(store, "a"), None);
    commit(store, &[start_as(store, 1, "a", "orders")]);
    let orders = Name::new("orders").expect("valid");
    assert_eq!(live(store, "a"), Some(LiveRun { run: run_id(1), flow: orders.clone() }));
    let closed =
        RunSummary { status: Status::Completed, closed_at: Some(at(9)), ..summary(1, "a", "orders") };
    commit(store, &[RunCommit { summary: Some(closed), ..step(store, 1, 2) }]);
    assert_eq!(live(store, "a"), Some(LiveRun { run: run_id(1), flow: orders }));
    commit(store, &[start_as(store, 2, "a", "returns")]);
    let returns = Name::new("returns").expect("valid");
    assert_eq!(live(store, "a"), Some(LiveRun { run: run_id(2), flow: returns }));
}

fn end_of_an_older_run(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[start_as(store, 1, "a", "orders"), start_as(store, 2, "a", "orders")]);
    let closed = RunSummary { status: Status::Canceled, ..summary(1, "a", "orders") };
    commit(store, &[RunCommit { summary: Some(closed), ..step(store, 1, 2) }]);
    assert_eq!(live(store, "a").map(|live| live.run), Some(run_id(2)));
}

fn live_prefixes(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let ids = ["a", "aa", "a/b", "ä", " a", "~"];
    for (n, id) in (1..).zip(ids) {
        commit(store, &[start_as(store, n, id, "orders")]);
    }
    for (n, id) in (1..).zip(ids) {
        assert_eq!(live(store, id).map(|live| live.run), Some(run_id(n)), "{id}");
    }
    assert_eq!(live(store, "aaa"), None);
}

fn ready_marks(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[start(store, 3), start(store, 1), start(store, 2)]);
    assert_eq!(store.ready(None, 9).expect("reads"), [1, 2, 3].map(run_id));
    assert_eq!(store.ready(None, 2).expect("reads"), [1, 2].map(run_id));
    assert_eq!(store.ready(Some(run_id(1)), 9).expect("reads"), [2, 3].map(run_id));
    assert_eq!(store.ready(Some(run_id(3)), 9).expect("reads"), []);
    commit(store, &[RunCommit { ready: Some(false), ..step(store, 2, 2) }]);
    assert_eq!(store.ready(None, 9).expect("reads"), [1, 3].map(run_id));
    assert_eq!(store.ready(Some(run_id(2)), 9).expect("reads"), [3].map(run_id));
    commit(store, &[step(store, 2, 3), step(store, 3, 2)]);
    assert_eq!(store.ready(None, 9).expect("reads"), [1, 3].map(run_id));
    commit(store, &[RunCommit { ready: Some(true), ..step(store, 2, 4) }]);
    assert_eq!(store.ready(None, 9).expect("reads"), [1, 2, 3].map(run_id));
}

fn runs_by_page(subject: &mut dyn Subject) {
    const RUNS: u64 = 500;
    let store = &*subject.open();
    for first in (1..=RUNS).step_by(100) {
        let batch: Vec<_> = (first..first + 100).rev().map(|run| start(store, run)).collect();
        commit(store, &batch);
    }
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.runs(after, 64).expect("reads");
        let Some(last) = page.last() else { break };
        after = Some(last.run);
        seen.extend(page.iter().map(|summary| summary.run));
    }
    assert_eq!(seen, (1..=RUNS).map(run_id).collect::<Vec<_>>());
    assert_eq!(store.runs(None, 0).expect("reads"), []);
}

fn summary_is_the_last(subject: &mut dyn Subject) {
    let store = &*subject.open();
    assert_eq!(store.summary(run_id(1)).expect("reads"), None);
    commit(store, &[start(store, 1)]);
    let first = start(store, 1).summary;
    assert_eq!(store.summary(run_id(1)).expect("reads"), first);
    commit(store, &[step(store, 1, 2)]);
    assert_eq!(store.summary(run_id(1)).expect("reads"), first);
    let failed =
        RunSummary { status: Status::Failed, closed_at: Some(at(77)), ..summary(1, "flow-id-1", "orders") };
    commit(store, &[RunCommit { summary: Some(failed.clone()), ..step(store, 1, 3) }]);
    assert_eq!(store.summary(run_id(1)).expect("reads"), Some(failed.clone()));
    assert_eq!(store.runs(None, 9).expect("reads"), [failed]);
}

fn flows_once(subject: &mut dyn Subject) {
    let expected = ["orders", "returns"];
    let names = |store: &dyn Store| {
        let mut names: Vec<_> =
            store.flows().expect("reads").iter().map(|name| name.as_str().to_owned()).collect();
        names.sort();
        names
    };
    {
        let store = &*subject.open();
        assert!(names(store).is_empty());
        commit(store, &[start_as(store, 1, "a", "orders"), start_as(store, 2, "b", "orders")]);
        commit(store, &[start_as(store, 3, "c", "returns"), start_as(store, 4, "d", "orders")]);
        assert_eq!(names(store), expected);
    }
    let store = &*subject.open();
    commit(store, &[start_as(store, 5, "e", "returns")]);
    assert_eq!(names(store), expected);
}
