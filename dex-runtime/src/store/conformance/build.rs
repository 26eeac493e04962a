//! Short ways to make commits.

use bytes::Bytes;

use super::super::{RunCommit, RunSummary, Store};
use crate::engine::Status;
use crate::ids::{ExecutionNo, FlowId, Name, RunId};
use crate::time::Timestamp;

pub(super) fn run_id(n: u64) -> RunId {
    RunId::from_bytes((u128::from(n) << 64).to_be_bytes())
}

pub(super) fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

pub(super) fn flow_id(text: &str) -> FlowId {
    FlowId::new(text).expect("a valid flow id")
}

pub(super) fn record_of(run: u64, sequence: u64) -> Bytes {
    format!("record {sequence} of {run}").into()
}

/// A transition that changes nothing beside its record.
pub(super) fn step(store: &dyn Store, run: u64, sequence: u64) -> RunCommit {
    RunCommit {
        run: run_id(run),
        sequence,
        epoch: store.epoch(),
        record: record_of(run, sequence),
        snapshot: None,
        summary: None,
        ready: None,
        timers_set: Vec::new(),
        timers_cleared: Vec::new(),
    }
}

/// The first transition of a run that is active and is called `flow-id-<run>`.
pub(super) fn start(store: &dyn Store, run: u64) -> RunCommit {
    start_as(store, run, &format!("flow-id-{run}"), "orders")
}

pub(super) fn start_as(store: &dyn Store, run: u64, flow_id: &str, flow: &str) -> RunCommit {
    RunCommit { summary: Some(summary(run, flow_id, flow)), ready: Some(true), ..step(store, run, 1) }
}

pub(super) fn summary(run: u64, id: &str, flow: &str) -> RunSummary {
    RunSummary {
        run: run_id(run),
        flow_id: flow_id(id),
        flow: Name::new(flow).expect("a valid name"),
        status: Status::Running,
        started_at: at(1_000),
        closed_at: None,
    }
}

pub(super) fn timer(micros: i64, execution: u64) -> (Timestamp, ExecutionNo) {
    (at(micros), ExecutionNo(execution))
}

pub(super) fn commit(store: &dyn Store, commits: &[RunCommit]) {
    store.commit(commits, true).expect("the commit fits");
}

/// Sequence numbers of the run's records.
pub(super) fn sequences(store: &dyn Store, run: u64) -> Vec<u64> {
    let history = store.history(run_id(run), 0, usize::MAX).expect("history reads");
    history.into_iter().map(|record| record.sequence).collect()
}
