//! What is read of one run: its history by page, its snapshot with what follows.

use super::build::{commit, record_of, run_id, sequences, start, step};
use super::{Case, Subject};
use crate::store::{RunCommit, StoredRecord};

pub(super) const CASES: &[Case] = &[
    ("a run that never was is not there", unknown_run),
    ("history is read page by page", history_by_page),
    ("runs do not see one another's records", neighbours),
    ("a snapshot is loaded with the records after it", snapshot_and_tail),
    ("records of any size and content come back", any_bytes),
];

fn unknown_run(subject: &mut dyn Subject) {
    let store = &*subject.open();
    assert_eq!(store.load(run_id(1)).expect("reads"), None);
    assert_eq!(store.history(run_id(1), 1, 9).expect("reads"), []);
}

fn history_by_page(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[start(store, 1)]);
    let rest: Vec<_> = (2..=300).map(|sequence| step(store, 1, sequence)).collect();
    commit(store, &rest);
    let page = store.history(run_id(1), 255, 3).expect("reads");
    let expected = [255, 256, 257].map(|sequence| StoredRecord { sequence, record: record_of(1, sequence) });
    assert_eq!(page, expected);
    assert_eq!(store.history(run_id(1), 300, 9).expect("reads").len(), 1);
    assert_eq!(store.history(run_id(1), 301, 9).expect("reads"), []);
    assert_eq!(store.history(run_id(1), 1, 0).expect("reads"), []);
    assert_eq!(sequences(store, 1), (1..=300).collect::<Vec<_>>());
}

fn neighbours(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[start(store, 1), start(store, 2), start(store, 3), step(store, 2, 2)]);
    assert_eq!(sequences(store, 1), [1]);
    assert_eq!(sequences(store, 2), [1, 2]);
    let stored = store.load(run_id(2)).expect("reads").expect("is there");
    assert_eq!(
        stored.records.iter().map(|r| r.record.clone()).collect::<Vec<_>>(),
        [record_of(2, 1), record_of(2, 2)]
    );
}

fn snapshot_and_tail(subject: &mut dyn Subject) {
    let store = &*subject.open();
    commit(store, &[start(store, 1), step(store, 1, 2)]);
    let with_snapshot = RunCommit { snapshot: Some("state at 3".into()), ..step(store, 1, 3) };
    commit(store, &[with_snapshot]);
    let stored = store.load(run_id(1)).expect("reads").expect("is there");
    assert_eq!(stored.snapshot, Some((3, "state at 3".into())));
    assert_eq!(stored.records, []);

    commit(store, &[step(store, 1, 4), step(store, 1, 5)]);
    let stored = store.load(run_id(1)).expect("reads").expect("is there");
    assert_eq!(stored.snapshot, Some((3, "state at 3".into())));
    assert_eq!(stored.records.iter().map(|r| r.sequence).collect::<Vec<_>>(), [4, 5]);
    assert_eq!(sequences(store, 1), [1, 2, 3, 4, 5], "history keeps what is in the snapshot");

    commit(store, &[RunCommit { snapshot: Some(bytes::Bytes::new()), ..step(store, 1, 6) }]);
    let stored = store.load(run_id(1)).expect("reads").expect("is there");
    assert_eq!(stored.snapshot, Some((6, bytes::Bytes::new())));
}

fn any_bytes(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let large: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).take(2_000_000).collect();
    let records = [vec![], vec![0], vec![255; 3], large];
    commit(store, &[start(store, 1)]);
    for (sequence, record) in (2..).zip(&records) {
        commit(store, &[RunCommit { record: record.clone().into(), ..step(store, 1, sequence) }]);
    }
    let history = store.history(run_id(1), 2, 9).expect("reads");
    assert!(history.iter().map(|stored| &stored.record[..]).eq(records.iter().map(|record| &record[..])));
}
