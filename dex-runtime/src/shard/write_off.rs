//! Ending a run whose history cannot be read or makes no sense, so that its id is free and it is at peace.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Shard;
use crate::engine::{self, Closing, Event, Parent, Recorded, RunIdentity, RunState, Stop};
use crate::error::{Error, ErrorKind};
use crate::ids::{FlowId, RunId};
use crate::store::{RunSummary, Store, StoreError, record};
use crate::time::Timestamp;

impl Shard {
    /// Terminates a run that was set aside. What is stored of it stays, but counts no more.
    pub(crate) async fn write_off(
        self: &Arc<Self>,
        flow_id: &FlowId,
        run: RunId,
        reason: Option<String>,
    ) -> Result<(), Error> {
        let _guard = self.reserve(flow_id).await;
        self.write_off_under_guard(run, reason).await
    }

    /// As [`write_off`](Self::write_off), for who holds the id's stripe.
    pub(crate) async fn write_off_under_guard(
        self: &Arc<Self>,
        run: RunId,
        reason: Option<String>,
    ) -> Result<(), Error> {
        self.check()?;
        if let Some(resident) = self.registry.get(run)? {
            // It is set aside in memory only; what it had decided before is written first.
            self.durable(Some(resident.last())).await?;
            self.registry.remove(&resident)?;
        }
        let Some(summary) = self.summary(run).await? else {
            return Err(Error::new(ErrorKind::NotFound, format!("run {run} is not in the store")));
        };
        if summary.status.is_closed() {
            let message = format!("run `{}` has ended: {}", summary.flow_id, summary.status);
            return Err(Error::with_run(ErrorKind::Closed, message, run, summary.status));
        }
        let (last, parent) = self.ask(move |store| Ok((last(store, run)?, parent(store, run)))).await?;
        let state = ended(summary, parent, last + 1, self.clock.now(), reason)?;
        let (reply, answer) = oneshot::channel();
        self.writer.write_off(&state, reply)?;
        let Ok(written) = answer.await else {
            let message = "the engine ended while this was written";
            return Err(Error::new(ErrorKind::OutcomeUnknown, message));
        };
        written?;
        // As it was written off it is in the store only, and its parent is to hear of it.
        if state.has_errands()
            && let Err(error) = self.found_under_guard(run).await
        {
            tracing::warn!(%run, %error, "the parent hears of its child at the next opening");
        }
        Ok(())
    }
}

/// The sequence number of the run's last transition.
fn last(store: &dyn Store, run: RunId) -> Result<u64, StoreError> {
    Ok(store.history(run, 1, usize::MAX)?.last().map_or(0, |stored| stored.sequence))
}

/// The run's parent, if its first transition can be read and says that it has one.
fn parent(store: &dyn Store, run: RunId) -> Option<Parent> {
    let first = store.history(run, 1, 1).ok()?.into_iter().next()?;
    match record::decode_transition(&first.record).ok()?.1.into_iter().next()? {
        Event::RunStarted { identity, .. } => identity.parent,
        _ => None,
    }
}

/// A run of which nothing is known but what its summary says, and that it was terminated.
fn ended(
    summary: RunSummary,
    parent: Option<Parent>,
    version: u64,
    at: Timestamp,
    reason: Option<String>,
) -> Result<RunState, Error> {
    let RunSummary { run, flow_id, flow, started_at, .. } = summary;
    let identity = RunIdentity { flow, flow_id, run_id: run, started_at, parent };
    let closing = Closing::Stopped { stop: Stop::Terminate, reason };
    let events = vec![Event::RunStarted { identity, timeout: None }, Event::RunClosed { closing }];
    match engine::fold(None, [Recorded { sequence: 1, at, events }]) {
        Ok(Some(state)) => Ok(RunState { version, ..state }),
        Ok(None) => Err(Error::new(ErrorKind::Quarantined, format!("run {run} cannot be ended"))),
        Err(broken) => {
            Err(Error::new(ErrorKind::Quarantined, format!("run {run} cannot be ended: {broken}")))
        }
    }
}
