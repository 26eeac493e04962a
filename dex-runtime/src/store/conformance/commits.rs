//! Commits: all or nothing, in order, by the opening that may write.

use super::build::{commit, flow_id, run_id, sequences, start, step, timer};
use super::{Case, Subject};
use crate::ids::Epoch;
use crate::store::{RunCommit, StoreError};

pub(super) const CASES: &[Case] = &[
    ("a commit that does not fit takes the whole batch with it", one_misfit_refuses_the_batch),
    ("transitions of one run follow one another within a batch", several_transitions_in_a_batch),
    ("of two changes of one row in a batch the later counts", later_change_counts),
    ("a transition that does not follow is refused", sequence_conflicts),
    ("a refused commit leaves the store usable", usable_after_refusal),
    ("an empty batch is taken", empty_batch),
    ("a commit of another epoch is refused", epoch_fencing),
    ("commits without durability are read at once", not_durable_is_visible),
    ("readers see whole batches while commits go on", readers_beside_commits),
];

fn one_misfit_refuses_the_batch(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[start(store, 1)]);
    let changes = RunCommit {
        summary: start(store, 2).summary,
        ready: Some(true),
        timers_set: vec![timer(5, 1)],
        snapshot: Some("state".into()),
        ..step(store, 2, 1)
    };
    let refused = store.commit(&[changes, step(store, 1, 3)], true);
    assert!(matches!(refused, Err(StoreError::Conflict { sequence: 3, .. })), "{refused:?}");
    assert_eq!(store.load(run_id(2)).expect("reads"), None);
    assert_eq!(store.summary(run_id(2)).expect("reads"), None);
    assert_eq!(store.live(&flow_id("flow-id-2")).expect("reads"), None);
    assert_eq!(store.ready(None, 9).expect("reads"), [run_id(1)]);
    assert_eq!(store.due(None, crate::Timestamp::MAX, 9).expect("reads"), []);
    assert_eq!(sequences(store, 1), [1]);
}

fn several_transitions_in_a_batch(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[start(store, 1), step(store, 1, 2), start(store, 2), step(store, 1, 3)]);
    assert_eq!(sequences(store, 1), [1, 2, 3]);
    assert_eq!(sequences(store, 2), [1]);
    let twice = store.commit(&[step(store, 1, 4), step(store, 1, 4)], true);
    assert!(matches!(twice, Err(StoreError::Conflict { sequence: 4, .. })), "{twice:?}");
    assert_eq!(sequences(store, 1), [1, 2, 3]);
}

fn later_change_counts(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let set = RunCommit { timers_set: vec![timer(7, 1), timer(8, 1)], ..start(store, 1) };
    let cleared = RunCommit {
        ready: Some(false),
        snapshot: Some("older".into()),
        timers_cleared: vec![timer(7, 1)],
        ..step(store, 1, 2)
    };
    let newer = RunCommit { snapshot: Some("newer".into()), ..step(store, 1, 3) };
    commit(store, &[set, cleared, newer]);
    assert_eq!(store.ready(None, 9).expect("reads"), []);
    let due = store.due(None, crate::Timestamp::MAX, 9).expect("reads");
    assert_eq!(due.iter().map(|due| due.at.as_micros()).collect::<Vec<_>>(), [8]);
    let stored = store.load(run_id(1)).expect("reads").expect("is there");
    assert_eq!(stored.snapshot, Some((3, "newer".into())));

    let again = RunCommit { ready: Some(true), ..step(store, 1, 4) };
    let off = RunCommit { ready: Some(false), ..step(store, 1, 5) };
    let on = RunCommit { ready: Some(true), ..step(store, 1, 6) };
    commit(store, &[again, off, on]);
    assert_eq!(store.ready(None, 9).expect("reads"), [run_id(1)]);
}

fn sequence_conflicts(subject: &mut dyn Subject) {
    let store = &*subject.open();
    for sequence in [0, 2, u64::MAX] {
        let refused = store.commit(&[step(store, 1, sequence)], true);
        assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{sequence}: {refused:?}");
    }
    commit(store, &[start(store, 1), step(store, 1, 2)]);
    for sequence in [0, 1, 2, 4] {
        let refused = store.commit(&[step(store, 1, sequence)], true);
        assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{sequence}: {refused:?}");
    }
    commit(store, &[step(store, 1, 3)]);
    assert_eq!(sequences(store, 1), [1, 2, 3]);
}

fn usable_after_refusal(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let refused = store.commit(&[step(store, 1, 5)], true).expect_err("does not fit");
    assert!(refused.wrote_nothing());
    assert!(store.fault().is_none());
    commit(store, &[start(store, 1)]);
}

fn empty_batch(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[]);
    commit(store, &[start(store, 1)]);
}

fn epoch_fencing(subject: &mut dyn Subject) {
    let old_epoch = {
        let store = &*subject.open();
        commit(store, &[start(store, 1)]);
        store.epoch()
    };
    let store = &*subject.open();
    assert!(store.epoch() > old_epoch, "each opening has a higher epoch");
    for epoch in [old_epoch, Epoch(store.epoch().0 + 1)] {
        let refused = store.commit(&[RunCommit { epoch, ..step(store, 1, 2) }], true);
        assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    }
    commit(store, &[step(store, 1, 2)]);
    assert_eq!(sequences(store, 1), [1, 2]);
}

fn not_durable_is_visible(subject: &mut dyn Subject) {
    let store = &*subject.open();
    store.commit(&[start(store, 1)], false).expect("fits");
    store.commit(&[step(store, 1, 2)], false).expect("fits");
    assert_eq!(sequences(store, 1), [1, 2]);
    commit(store, &[step(store, 1, 3)]);
    assert_eq!(sequences(store, 1), [1, 2, 3]);
}

fn readers_beside_commits(subject: &mut dyn Subject) {
    const LAST: u64 = 200;
    let store = &*subject.open();
    commit(store, &[start(store, 1), start(store, 2)]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for sequence in 2..=LAST {
                let snapshot = (sequence % 7 == 0).then(|| "state".into());
                let first = RunCommit { snapshot, ..step(store, 1, sequence) };
                commit(store, &[first, step(store, 2, sequence)]);
            }
        });
        let mut seen = 0;
        while seen < LAST {
            let stored = store.load(run_id(1)).expect("reads without a gap").expect("is there");
            let snapshot = stored.snapshot.map_or(0, |(sequence, _)| sequence);
            let last = stored.records.last().map_or(snapshot, |record| record.sequence);
            assert!(last >= seen, "{last} after {seen}");
            seen = last;
            // What was committed together is there together.
            assert!(sequences(store, 2).len() as u64 >= last);
        }
    });
}
