//! Commits that need no sync of their own.

use std::fs;
use std::future::{Future as _, poll_fn};
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use super::{Committer, NotTaken, SYNC_AFTER, Sink, spawn};
use crate::ids::{FlowId, Name, RunId};
use crate::store::fjall::{FjallOptions, FjallStore};
use crate::store::memory::MemoryStore;
use crate::store::{
    RunCommit, RunSummary, Store, StoreError, StreamAppend, StreamFrom, StreamNames, StreamQuery,
};
use crate::time::Timestamp;

/// Tells what was written.
struct Told(mpsc::Sender<Vec<u8>>);

impl Sink<u8, u8> for Told {
    /// An item as 100 and its offset.
    fn appended(&self, appended: &mut dyn Iterator<Item = (u8, u64)>) {
        self.0
            .send(appended.map(|(after, offset)| 100 + 10 * after + u8::try_from(offset).unwrap()).collect())
            .unwrap();
    }

    fn written(&self, after: &mut Vec<u8>) {
        self.0.send(after.clone()).unwrap();
    }

    fn failing(&self, fault: &StoreError) {
        panic!("{fault}");
    }

    fn failed(&self, fault: &StoreError, _after: Vec<u8>, _appended: Vec<u8>) {
        panic!("{fault}");
    }
}

fn start(store: &dyn Store, run: u8) -> RunCommit {
    let run_id = RunId::from_bytes([run; 16]);
    let summary = RunSummary {
        run: run_id,
        flow_id: FlowId::new(format!("r{run}")).unwrap(),
        flow: Name::new("orders").unwrap(),
        status: crate::engine::Status::Running,
        started_at: Timestamp::EPOCH,
        closed_at: None,
    };
    RunCommit {
        run: run_id,
        sequence: 1,
        epoch: store.epoch(),
        record: vec![run].into(),
        snapshot: None,
        summary: Some(summary),
        ready: None,
        timers_set: Vec::new(),
        timers_cleared: Vec::new(),
    }
}

fn runs(store: &MemoryStore) -> usize {
    store.runs(None, 9).unwrap().len()
}

#[tokio::test]
async fn what_needs_no_sync_is_handed_on_at_once_and_durable_soon() {
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::new(10, 100, 10));
    let (sender, told) = mpsc::channel();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let thread = spawn(Arc::clone(&committer), shared, Told(sender), SYNC_AFTER).unwrap();
    let ticket = committer.permit(false).unwrap().enqueue(start(&*store, 1), 1, false);
    assert_eq!(told.recv().unwrap(), [1]);
    // Nothing else comes, and nobody asks for it: the sync comes by itself.
    committer.progress(|now| now.written.commit >= ticket).await.unwrap();
    committer.end();
    thread.join().unwrap();
    assert_eq!(runs(&store.reopen_after_power_loss()), 1);
}

#[tokio::test]
async fn who_waits_for_a_commit_need_not_wait_until_it_is_time_for_a_sync() {
    const NEVER: Duration = Duration::from_hours(24);
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::new(10, 100, 2));
    let (sender, told) = mpsc::channel();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let enqueue = |run| committer.permit(false).unwrap().enqueue(start(&*store, run), run, false);
    // The first waits to be written, with more than a batch before it; the second is written already.
    let tickets = [enqueue(1), enqueue(2), enqueue(3)];
    let mut waits = pin!(committer.durable(tickets[2]));
    assert!(poll_fn(|cx| Poll::Ready(waits.as_mut().poll(cx))).await.is_pending());
    let thread = spawn(Arc::clone(&committer), shared, Told(sender), NEVER).unwrap();
    waits.await.unwrap();
    let ticket = enqueue(4);
    assert_eq!(told.iter().flatten().take(4).collect::<Vec<_>>(), [1, 2, 3, 4]);
    committer.durable(ticket).await.unwrap();
    assert_eq!(runs(&store.reopen_after_power_loss()), 4);
    committer.end();
    thread.join().unwrap();
}

#[tokio::test]
async fn a_commit_that_needs_a_sync_makes_those_before_it_durable() {
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::new(10, 100, 1));
    let (sender, told) = mpsc::channel();
    let gate = store.gate();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let thread = spawn(Arc::clone(&committer), shared, Told(sender), SYNC_AFTER).unwrap();
    committer.permit(false).unwrap().enqueue(start(&*store, 1), 1, false);
    let second = committer.permit(false).unwrap().enqueue(start(&*store, 2), 2, true);
    gate.open();
    committer.durable(second).await.unwrap();
    assert_eq!((told.recv().unwrap(), told.recv().unwrap()), (vec![1], vec![2]));
    committer.end();
    thread.join().unwrap();
    assert_eq!(runs(&store.reopen_after_power_loss()), 2);
}

#[tokio::test]
async fn the_end_of_the_queue_makes_durable_what_is_left() {
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::new(10, 100, 10));
    let (sender, told) = mpsc::channel();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let thread = spawn(Arc::clone(&committer), shared, Told(sender), SYNC_AFTER).unwrap();
    committer.permit(false).unwrap().enqueue(start(&*store, 1), 1, false);
    told.recv().unwrap();
    committer.end();
    thread.join().unwrap();
    assert_eq!(runs(&store.reopen_after_power_loss()), 1);
}

fn item(store: &MemoryStore, run: u8) -> StreamAppend {
    StreamAppend {
        run: RunId::from_bytes([run; 16]),
        stream: StreamNames::new(Name::new("s").unwrap(), []),
        epoch: store.epoch(),
        capacity: 1_000,
        record: vec![run].into(),
    }
}

fn offsets(store: &MemoryStore) -> Vec<u64> {
    let all = StreamQuery { from: StreamFrom::After(0), items_max: 9, bytes_max: 999 };
    let stream = item(store, 1).stream;
    let items = store.stream(RunId::from_bytes([1; 16]), &stream, all).unwrap();
    items.into_iter().map(|item| item.offset).collect()
}

#[tokio::test]
async fn items_are_written_before_commits_that_were_enqueued_later_and_are_durable_soon() {
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::new(10, 100, 1));
    let (sender, told) = mpsc::channel();
    let gate = store.gate();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let thread = spawn(Arc::clone(&committer), shared, Told(sender), SYNC_AFTER).unwrap();
    committer.permit(false).unwrap().enqueue(start(&*store, 1), 1, false);
    gate.wait_for_commit();
    // Behind the one at the gate: a commit, then items, then another commit, which a later batch takes.
    committer.permit(false).unwrap().enqueue(start(&*store, 2), 2, false);
    committer.append(item(&store, 1), 0, false).unwrap();
    committer.append(item(&store, 1), 1, false).unwrap();
    committer.permit(false).unwrap().enqueue(start(&*store, 3), 3, false);
    let last = committer.last_append();
    gate.open();
    let order: Vec<_> = (0..4).map(|_| told.recv().unwrap()).collect();
    assert_eq!(order, [vec![1], vec![101, 112], vec![2], vec![3]]);
    committer.durable_append(last).await.unwrap();
    assert_eq!(offsets(&store.reopen_after_power_loss()), [1, 2]);
    committer.end();
    thread.join().unwrap();
}

#[tokio::test]
async fn there_is_room_for_so_many_bytes_of_items_and_then_for_those_who_wait() {
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::<u8, super::Room>::new(10, 100, 10));
    let first = committer.try_room(60).unwrap();
    assert!(matches!(committer.try_room(60), Err(NotTaken::NoRoom { waiting: 60 })));
    // One that is larger than the whole queue gets in alone.
    let large = committer.room(1_000);
    let mut large = Box::pin(large);
    assert!(futures_pending(large.as_mut()).await);
    assert!(matches!(committer.try_room(1), Err(NotTaken::NoRoom { .. })), "it is not overtaken");
    drop(first);
    let large = large.await.unwrap();
    committer.append(item(&store, 1), large, false).unwrap();
    let mut waits = Box::pin(committer.room(1));
    assert!(futures_pending(waits.as_mut()).await);
    committer.end();
    assert!(matches!(waits.await, Err(NotTaken::Ended)));
    assert!(matches!(committer.try_room(1), Err(NotTaken::Ended)));
}

async fn futures_pending(mut future: std::pin::Pin<&mut impl Future>) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

#[tokio::test]
async fn a_backlog_is_written_in_batches_and_in_its_order() {
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::new(10, 100, 2));
    let (sender, told) = mpsc::channel();
    let enqueue = |run| committer.permit(false).unwrap().enqueue(start(&*store, run), run, true);
    for run in 1..=5 {
        enqueue(run);
    }
    let last = {
        let gate = store.gate();
        let shared: Arc<dyn Store> = Arc::clone(&store) as _;
        let thread = spawn(Arc::clone(&committer), shared, Told(sender), SYNC_AFTER).unwrap();
        // What comes while the backlog is being written comes after it, and fills its last batch.
        gate.wait_for_commit();
        let last = [6, 7, 8].map(enqueue)[2];
        gate.open();
        committer.durable(last).await.unwrap();
        committer.end();
        thread.join().unwrap();
        last
    };
    assert_eq!(committer.last(), last);
    assert_eq!(told.into_iter().collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![5, 6], vec![7, 8]]);
    assert!(matches!(committer.permit(true), Err(NotTaken::Ended)));
}

/// How many tables the keyspaces of a store have.
fn tables(store: &Path) -> usize {
    let keyspaces = fs::read_dir(store.join("data/keyspaces")).unwrap();
    let tables = keyspaces.filter_map(|keyspace| fs::read_dir(keyspace.unwrap().path().join("tables")).ok());
    tables.flatten().count()
}

#[tokio::test]
async fn once_it_is_quiet_the_store_settles_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(FjallStore::open(folder.path(), FjallOptions::default()).unwrap());
    let committer = Arc::new(Committer::new(10, 100, 10));
    let (sender, told) = mpsc::channel();
    let thread = spawn(Arc::clone(&committer), Arc::clone(&store), Told(sender), SYNC_AFTER).unwrap();
    let much = RunCommit { record: vec![1; 2 << 20].into(), ..start(&*store, 1) };
    committer.permit(false).unwrap().enqueue(much, 1, true);
    assert_eq!(told.recv().unwrap(), [1]);
    let before = tables(folder.path());
    while tables(folder.path()) == before {
        std::thread::yield_now();
    }
    committer.end();
    thread.join().unwrap();
}
