//! What a store does in a quiet moment.

use std::fs;
use std::path::Path;

use dex_runtime::store::fjall::{FjallOptions, FjallStore};
use dex_runtime::store::{RunCommit, Store};

use super::support::{content, copy, files, open, start, step};

/// Longer than what stays in memory in any case.
fn much() -> String {
    "written before it was quiet;".repeat(60_000)
}

fn settle(store: &dyn Store) {
    while store.settle() {
        std::thread::yield_now();
    }
}

/// Whether a table of the store has [`much`]: the only files without an ending are tables.
fn is_in_a_table(folder: &Path) -> bool {
    let much = much();
    let start = &much.as_bytes()[..much.len() / 1_000];
    // One that is gone was merged meanwhile.
    let has = |path: &Path| fs::read(path).is_ok_and(|bytes| bytes.windows(start.len()).any(|w| w == start));
    files(folder).iter().any(|file| file.extension().is_none() && has(&folder.join(file)))
}

#[test]
fn what_is_in_memory_gets_into_tables_and_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    store.commit(&[RunCommit { record: much().into(), ..start(&store, 1) }], true).unwrap();
    store.commit(&[step(&store, 1, 2)], true).unwrap();
    let before = content(&store, 1).unwrap();
    settle(&store);

    let crashed = tempfile::tempdir().unwrap();
    copy(folder.path(), crashed.path());
    assert!(is_in_a_table(crashed.path()));
    let reopened = open(crashed.path()).unwrap();
    assert_eq!(content(&reopened, 1).unwrap(), before);
    reopened.commit(&[step(&reopened, 1, 3)], true).unwrap();
}

#[test]
fn what_is_read_from_the_journal_at_the_opening_gets_into_tables_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    store.commit(&[RunCommit { record: much().into(), ..start(&store, 1) }], true).unwrap();
    drop(store);
    assert!(!is_in_a_table(folder.path()));
    let store = open(folder.path()).unwrap();
    settle(&store);
    assert!(is_in_a_table(folder.path()));
}

#[test]
fn it_goes_on_and_settles_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for run in 1..=3 {
        store.commit(&[RunCommit { record: much().into(), ..start(&store, run) }], true).unwrap();
        settle(&store);
        // The last sequence numbers were forgotten; each is found again.
        store.commit(&[step(&store, run, 2)], true).unwrap();
        assert!(store.commit(&[step(&store, run, 2)], true).is_err());
    }
    let before = content(&store, 3).unwrap();
    drop(store);
    assert_eq!(content(&open(folder.path()).unwrap(), 3).unwrap(), before);
}

#[test]
fn what_is_enough_for_a_table_becomes_one_while_much_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = FjallOptions::default();
    options.memtable_bytes = 1024 * 1024;
    let store = FjallStore::open(folder.path(), options).unwrap();
    for run in 1..=20 {
        store.commit(&[RunCommit { record: much().into(), ..start(&store, run) }], true).unwrap();
    }
    while !is_in_a_table(folder.path()) {
        std::thread::yield_now();
    }
    let before = content(&store, 20).unwrap();
    drop(store);
    assert_eq!(content(&open(folder.path()).unwrap(), 20).unwrap(), before);
}

#[test]
fn little_is_left_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    store.commit(&[start(&store, 1)], true).unwrap();
    let before = files(folder.path());
    assert!(!store.settle());
    assert_eq!(files(folder.path()), before);
    store.close().unwrap();
    assert!(!store.settle(), "a store that is closed has nothing to do");
}
