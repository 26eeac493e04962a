//! Timers: which are due, in which order, from where.

use super::build::{at, commit, run_id, start, step, timer};
use super::{Case, Subject};
use crate::ids::ExecutionNo;
use crate::store::{Due, RunCommit, Store};
use crate::time::Timestamp;

pub(super) const CASES: &[Case] = &[
    ("timers are due earliest first, up to the instant", due_order),
    ("timers of one instant are all kept", same_instant),
    ("a cursor continues behind what was seen", cursors),
    ("a cleared timer is gone, others stay", cleared),
    ("the ends of time are instants like others", ends_of_time),
];

fn due(micros: i64, run: u64, execution: u64) -> Due {
    Due { at: at(micros), run: run_id(run), execution: ExecutionNo(execution) }
}

fn all(store: &dyn Store, until: Timestamp) -> Vec<Due> {
    store.due(None, until, usize::MAX).expect("reads")
}

fn due_order(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let first = RunCommit { timers_set: vec![timer(300, 1), timer(70_000, 2)], ..start(store, 2) };
    let second = RunCommit { timers_set: vec![timer(299, 1), timer(301, 1)], ..start(store, 1) };
    commit(store, &[first, second]);
    assert_eq!(all(store, at(298)), []);
    assert_eq!(all(store, at(299)), [due(299, 1, 1)]);
    assert_eq!(all(store, at(300)), [due(299, 1, 1), due(300, 2, 1)]);
    assert_eq!(
        all(store, Timestamp::MAX),
        [due(299, 1, 1), due(300, 2, 1), due(301, 1, 1), due(70_000, 2, 2)]
    );
    assert_eq!(store.due(None, Timestamp::MAX, 1).expect("reads"), [due(299, 1, 1)]);
}

fn same_instant(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let set = |run, executions: &[u64]| RunCommit {
        timers_set: executions.iter().map(|execution| timer(5, *execution)).collect(),
        ..start(store, run)
    };
    commit(store, &[set(2, &[256, 1]), set(1, &[9])]);
    assert_eq!(all(store, at(5)), [due(5, 1, 9), due(5, 2, 1), due(5, 2, 256)]);
}

fn cursors(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let set = (0..50).map(|n| timer(1_000 + n / 5, 1 + n.unsigned_abs() % 5)).collect();
    commit(store, &[RunCommit { timers_set: set, ..start(store, 1) }]);
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.due(after.as_ref(), at(1_008), 7).expect("reads");
        let Some(last) = page.last() else { break };
        after = Some(*last);
        seen.extend(page);
    }
    assert_eq!(seen, all(store, at(1_008)));
    assert_eq!(seen.len(), 45);
    // A cursor need not be a timer that exists, and may lie behind the instant.
    assert_eq!(store.due(Some(&due(1_000, 0, 0)), at(1_000), 9).expect("reads").len(), 5);
    assert_eq!(store.due(Some(&due(9_999, 1, 1)), at(1_008), 9).expect("reads"), []);
    assert_eq!(store.due(Some(&due(1_008, 1, 5)), at(1_008), 9).expect("reads"), []);
}

fn cleared(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[RunCommit { timers_set: vec![timer(5, 1), timer(6, 1)], ..start(store, 1) }]);
    let moved =
        RunCommit { timers_cleared: vec![timer(5, 1)], timers_set: vec![timer(4, 1)], ..step(store, 1, 2) };
    commit(store, &[moved]);
    assert_eq!(all(store, at(9)), [due(4, 1, 1), due(6, 1, 1)]);
    let again = RunCommit { timers_cleared: vec![timer(4, 1), timer(123, 1)], ..step(store, 1, 3) };
    commit(store, &[again]);
    assert_eq!(all(store, at(9)), [due(6, 1, 1)]);
    // Cleared and set in one transition: it is set.
    let reset =
        RunCommit { timers_cleared: vec![timer(6, 1)], timers_set: vec![timer(6, 1)], ..step(store, 1, 4) };
    commit(store, &[reset]);
    assert_eq!(all(store, at(9)), [due(6, 1, 1)]);
}

fn ends_of_time(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let last = Timestamp::MAX.as_micros();
    commit(store, &[RunCommit { timers_set: vec![timer(0, 1), timer(last, u64::MAX)], ..start(store, 1) }]);
    assert_eq!(all(store, Timestamp::EPOCH), [due(0, 1, 1)]);
    assert_eq!(all(store, Timestamp::MAX), [due(0, 1, 1), due(last, 1, u64::MAX)]);
    assert_eq!(store.due(Some(&due(0, 1, 1)), at(last - 1), 9).expect("reads"), []);
}
