//! Commits that need no sync of their own.

use std::sync::{Arc, mpsc};

use super::{Committer, Sink, spawn};
use crate::ids::{FlowId, Name, RunId};
use crate::store::memory::MemoryStore;
use crate::store::{RunCommit, RunSummary, Store, StoreError};
use crate::time::Timestamp;

/// Tells what was written.
struct Told(mpsc::Sender<Vec<u8>>);

impl Sink<u8> for Told {
    fn written(&self, after: &mut Vec<u8>) {
        self.0.send(after.clone()).unwrap();
    }

    fn failed(&self, fault: &StoreError, _after: Vec<u8>) {
        panic!("{fault}");
    }
}

fn start(store: &MemoryStore, run: u8) -> RunCommit {
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
    let committer = Arc::new(Committer::new(10));
    let (sender, told) = mpsc::channel();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let thread = spawn(Arc::clone(&committer), shared, 10, Told(sender)).unwrap();
    let ticket = committer.permit(false).unwrap().enqueue(start(&store, 1), 1, false);
    assert_eq!(told.recv().unwrap(), [1]);
    // Nothing else comes: the sync comes by itself.
    committer.durable(ticket).await.unwrap();
    committer.end();
    thread.join().unwrap();
    assert_eq!(runs(&store.reopen_after_power_loss()), 1);
}

#[tokio::test]
async fn a_commit_that_needs_a_sync_makes_those_before_it_durable() {
    let store = Arc::new(MemoryStore::new());
    let committer = Arc::new(Committer::new(10));
    let (sender, told) = mpsc::channel();
    let gate = store.gate();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let thread = spawn(Arc::clone(&committer), shared, 1, Told(sender)).unwrap();
    committer.permit(false).unwrap().enqueue(start(&store, 1), 1, false);
    let second = committer.permit(false).unwrap().enqueue(start(&store, 2), 2, true);
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
    let committer = Arc::new(Committer::new(10));
    let (sender, told) = mpsc::channel();
    let shared: Arc<dyn Store> = Arc::clone(&store) as _;
    let thread = spawn(Arc::clone(&committer), shared, 10, Told(sender)).unwrap();
    committer.permit(false).unwrap().enqueue(start(&store, 1), 1, false);
    told.recv().unwrap();
    committer.end();
    thread.join().unwrap();
    assert_eq!(runs(&store.reopen_after_power_loss()), 1);
}
