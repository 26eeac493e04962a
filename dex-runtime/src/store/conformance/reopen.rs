//! Opening again: everything is as it was.

use super::build::{at, commit, flow_id, run_id, sequences, start, step, timer};
use super::{Case, Subject};
use crate::store::{RunCommit, Store, StoreError};

pub(super) const CASES: &[Case] = &[
    ("what was committed is there after the store was dropped", after_a_drop),
    ("what was committed is there after the store was closed", after_a_close),
    ("a closed store answers so", closed),
    ("an opening knows whether the one before it was closed", knows_whether_it_was_closed),
    ("many runs survive many openings", many_runs),
];

fn fill(store: &dyn Store) {
    let first = RunCommit { timers_set: vec![timer(5, 1), timer(6, 1)], ..start(store, 1) };
    let second = RunCommit {
        ready: Some(false),
        snapshot: Some("state".into()),
        timers_cleared: vec![timer(5, 1)],
        ..step(store, 1, 2)
    };
    commit(store, &[first]);
    commit(store, &[second, start(store, 2)]);
    commit(store, &[step(store, 1, 3)]);
}

fn check(store: &dyn Store) {
    let stored = store.load(run_id(1)).expect("reads").expect("is there");
    assert_eq!(stored.snapshot, Some((2, "state".into())));
    assert_eq!(stored.records.iter().map(|r| r.sequence).collect::<Vec<_>>(), [3]);
    assert_eq!(store.ready(None, 9).expect("reads"), [run_id(2)]);
    assert_eq!(store.due(None, at(9), 9).expect("reads").len(), 1);
    assert_eq!(store.live(&flow_id("flow-id-1")).expect("reads").map(|live| live.run), Some(run_id(1)));
    assert_eq!(store.runs(None, 9).expect("reads").len(), 2);
    assert_eq!(store.flows().expect("reads").len(), 1);
    let repeated = store.commit(&[step(store, 1, 3)], true);
    assert!(matches!(repeated, Err(StoreError::Conflict { .. })), "{repeated:?}");
    commit(store, &[step(store, 2, 2)]);
}

fn after_a_drop(subject: &mut dyn Subject) {
    fill(&*subject.open());
    check(&*subject.open());
}

fn after_a_close(subject: &mut dyn Subject) {
    let store = subject.open();
    fill(&*store);
    store.close().expect("closes");
    // The closed store may live on while the next one is open.
    check(&*subject.open());
    drop(store);
}

fn closed(subject: &mut dyn Subject) {
    let store = subject.open();
    fill(&*store);
    store.close().expect("closes");
    store.close().expect("closing twice is nothing");
    let unavailable = |result: Result<(), StoreError>| {
        assert!(matches!(result, Err(StoreError::Unavailable { .. })), "{result:?}");
    };
    unavailable(store.commit(&[step(&*store, 2, 2)], true));
    unavailable(store.load(run_id(1)).map(drop));
    unavailable(store.ready(None, 1).map(drop));
    assert!(store.fault().is_some());
}

fn knows_whether_it_was_closed(subject: &mut dyn Subject) {
    let first = subject.open();
    fill(&*first);
    first.close().expect("closes");
    drop(first);
    let second = subject.open();
    assert!(second.was_closed());
    commit(&*second, &[step(&*second, 2, 2)]);
    drop(second);
    let third = subject.open();
    assert!(!third.was_closed(), "a store that was dropped was not closed");
    drop(third);
    assert!(!subject.open().was_closed());
}

fn many_runs(subject: &mut dyn Subject) {
    const RUNS: u64 = 200;
    let mut last_epoch = None;
    for round in 1..=4 {
        let store = &*subject.open();
        assert!(last_epoch < Some(store.epoch()));
        last_epoch = Some(store.epoch());
        let batch: Vec<_> = (1..=RUNS)
            .map(|run| if round == 1 { start(store, run) } else { step(store, run, round) })
            .collect();
        store.commit(&batch, round % 2 == 0).expect("fits");
        if round == 3 {
            store.close().expect("closes");
        }
    }
    let store = &*subject.open();
    for run in 1..=RUNS {
        assert_eq!(sequences(store, run), [1, 2, 3, 4]);
    }
    assert_eq!(store.ready(None, usize::MAX).expect("reads").len(), 200);
}
