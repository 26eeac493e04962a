//! Rows: what stands under one key for a whole run or flow id.

use bytes::Bytes;

use super::super::types::{LiveRun, RunSummary, StoreError};
use super::bytes::{ReadError, Reader, Writer};
use super::{begin, read, tag};
use crate::engine::Status;
use crate::ids::RunId;
use crate::time::Timestamp;

const SUMMARY_VERSION: u8 = 1;
const LIVE_VERSION: u8 = 1;

/// Room for a row with names and ids of usual length.
const CAPACITY: usize = 96;

/// The row of `runs`, less the run's id, which is its key.
pub(in super::super) fn encode_summary(summary: &RunSummary) -> Bytes {
    let mut out = begin(SUMMARY_VERSION, CAPACITY);
    out.text(summary.flow_id.as_str());
    out.name(&summary.flow);
    out.status(summary.status);
    out.time(Timestamp::EPOCH, summary.started_at);
    out.option(summary.closed_at, |out, at| out.time(summary.started_at, at));
    out.finish()
}

/// Decodes what [`encode_summary`] made.
pub(in super::super) fn decode_summary(run: RunId, record: &[u8]) -> Result<RunSummary, StoreError> {
    read("a run's summary", SUMMARY_VERSION, record, |input| {
        let flow_id = input.flow_id()?;
        let flow = input.name()?;
        let status = input.status()?;
        let started_at = input.time(Timestamp::EPOCH)?;
        let closed_at = input.option(|input| input.time(started_at))?;
        Ok(RunSummary { run, flow_id, flow, status, started_at, closed_at })
    })
}

/// The row of `live`, less the flow id, which is its key.
pub(in super::super) fn encode_live(live: &LiveRun) -> Bytes {
    let mut out = begin(LIVE_VERSION, CAPACITY);
    out.fixed(live.run.as_bytes());
    out.name(&live.flow);
    out.finish()
}

/// Decodes what [`encode_live`] made.
pub(in super::super) fn decode_live(record: &[u8]) -> Result<LiveRun, StoreError> {
    read("a flow id's row", LIVE_VERSION, record, |input| {
        Ok(LiveRun { run: input.run()?, flow: input.name()? })
    })
}

/// The row of `snapshots`: the sequence number of the last transition in it, then the snapshot's record.
pub(in super::super) fn encode_snapshot_row(sequence: u64, snapshot: &[u8]) -> Bytes {
    let mut row = Writer::with_capacity(size_of::<u64>() + snapshot.len());
    row.fixed(&sequence.to_be_bytes());
    row.fixed(snapshot);
    row.finish()
}

/// Decodes what [`encode_snapshot_row`] made.
pub(in super::super) fn decode_snapshot_row(row: &[u8]) -> Result<(u64, Bytes), StoreError> {
    match row.split_first_chunk() {
        Some((sequence, snapshot)) => Ok((u64::from_be_bytes(*sequence), Bytes::copy_from_slice(snapshot))),
        None => Err(StoreError::Unreadable {
            what: "a snapshot row".into(),
            reason: format!("it has {} bytes, fewer than its sequence number", row.len()),
        }),
    }
}

impl Writer {
    fn status(&mut self, status: Status) {
        self.byte(match status {
            Status::Running => tag::status::RUNNING,
            Status::Paused => tag::status::PAUSED,
            Status::Completed => tag::status::COMPLETED,
            Status::Failed => tag::status::FAILED,
            Status::Canceled => tag::status::CANCELED,
            Status::Terminated => tag::status::TERMINATED,
        });
    }
}

impl Reader<'_> {
    fn status(&mut self) -> Result<Status, ReadError> {
        Ok(match self.byte()? {
            tag::status::RUNNING => Status::Running,
            tag::status::PAUSED => Status::Paused,
            tag::status::COMPLETED => Status::Completed,
            tag::status::FAILED => Status::Failed,
            tag::status::CANCELED => Status::Canceled,
            tag::status::TERMINATED => Status::Terminated,
            other => return Err(self.unknown_tag("status", other)),
        })
    }
}
