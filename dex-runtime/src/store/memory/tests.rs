//! The suite, and what only this store can do.

use super::*;
use crate::store::conformance::{self, Subject};

#[derive(Default)]
struct Memory(Option<MemoryStore>);

impl Subject for Memory {
    fn open(&mut self) -> Box<dyn Store> {
        let disk = self.0.get_or_insert_default();
        Box::new(disk.reopen())
    }
}

#[test]
fn it_does_what_every_store_must() {
    conformance::run(|| Box::new(Memory::default()));
}

#[test]
fn random_commits_are_kept_as_a_list_of_them_would() {
    conformance::check_against_model(256, || Box::new(Memory::default()));
}

fn start(store: &MemoryStore, n: u8) -> RunCommit {
    RunCommit {
        run: RunId::from_bytes([n; 16]),
        sequence: 1,
        epoch: store.epoch(),
        record: bytes::Bytes::new(),
        snapshot: None,
        summary: None,
        ready: Some(true),
        timers_set: Vec::new(),
        timers_cleared: Vec::new(),
    }
}

fn runs(store: &MemoryStore) -> usize {
    store.ready(None, usize::MAX).unwrap().len()
}

#[test]
fn the_end_of_a_process_loses_nothing_and_the_end_of_power_what_was_not_durable() {
    let store = MemoryStore::new();
    store.commit(&[start(&store, 1)], true).unwrap();
    store.commit(&[start(&store, 2)], false).unwrap();
    assert_eq!(runs(&store.reopen()), 2);
    assert_eq!(runs(&store.reopen_after_power_loss()), 1);
}

#[test]
fn a_durable_commit_makes_those_before_it_durable() {
    let store = MemoryStore::new();
    store.commit(&[start(&store, 1)], false).unwrap();
    store.commit(&[start(&store, 2)], true).unwrap();
    assert_eq!(runs(&store.reopen_after_power_loss()), 2);
}

#[test]
fn a_store_that_was_opened_again_is_fenced_off() {
    let old = MemoryStore::new();
    let new = old.reopen();
    let refused = old.commit(&[start(&old, 1)], true).unwrap_err();
    assert!(matches!(refused, StoreError::Fenced { epoch: 1, latest: 2 }), "{refused}");
    new.commit(&[start(&new, 1)], true).unwrap();
}

#[test]
fn after_a_failed_commit_all_are_refused_until_it_is_opened_again() {
    for (at, left) in [(FailAt::BeforeWriting, 1), (FailAt::AfterWriting, 2)] {
        let store = MemoryStore::new();
        store.fail_commit(2, at);
        store.commit(&[start(&store, 1)], true).unwrap();
        let failed = store.commit(&[start(&store, 2)], true).unwrap_err();
        assert!(!failed.wrote_nothing());
        let refused = store.commit(&[start(&store, 3)], true).unwrap_err();
        assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
        assert!(store.fault().is_some());
        let again = store.reopen();
        assert_eq!(runs(&again), left);
        again.commit(&[start(&again, 3)], true).unwrap();
    }
}

#[test]
fn a_full_disk_refuses_commits_until_there_is_space() {
    let store = MemoryStore::new();
    store.set_disk_full(true);
    let refused = store.commit(&[start(&store, 1)], true).unwrap_err();
    assert!(matches!(refused, StoreError::DiskFull { .. }), "{refused}");
    store.set_disk_full(false);
    store.commit(&[start(&store, 1)], true).unwrap();
    assert_eq!(runs(&store), 1);
}

#[test]
fn a_commit_at_the_gate_is_not_written_yet() {
    let store = MemoryStore::new();
    let gate = store.gate();
    std::thread::scope(|scope| {
        let commit = scope.spawn(|| store.commit(&[start(&store, 1)], true));
        gate.wait_for_commit();
        assert!(gate.has_commit());
        assert_eq!(runs(&store), 0);
        gate.open();
        commit.join().unwrap().unwrap();
    });
    assert_eq!(runs(&store), 1);
}

#[test]
fn a_power_loss_takes_items_that_were_not_durable_and_their_offsets_come_again() {
    let store = MemoryStore::new();
    let names = StreamNames::new(Name::new("s").unwrap(), []);
    let append = |store: &MemoryStore, text: &'static str| StreamAppend {
        run: RunId::from_bytes([1; 16]),
        stream: names.clone(),
        epoch: store.epoch(),
        capacity: 1024,
        record: text.into(),
    };
    assert_eq!(store.write(&[], &[append(&store, "a")], true).unwrap(), [1]);
    assert_eq!(store.write(&[], &[append(&store, "lost")], false).unwrap(), [2]);
    let store = store.reopen_after_power_loss();
    assert_eq!(store.write(&[], &[append(&store, "b")], false).unwrap(), [2]);
    // A durable commit of something else makes it durable, too.
    store.commit(&[start(&store, 1)], true).unwrap();
    let store = store.reopen_after_power_loss();
    let all = StreamQuery { from: crate::store::StreamFrom::After(0), items_max: 9, bytes_max: 999 };
    let items = store.stream(RunId::from_bytes([1; 16]), &names, all).unwrap();
    assert_eq!(items.iter().map(|item| &item.record[..]).collect::<Vec<_>>(), [b"a", b"b"]);
}
