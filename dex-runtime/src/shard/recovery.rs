//! What an opening has to do: the runs that are marked as active, and the timers that are due.

use std::sync::Arc;

use super::Shard;
use crate::activity::Busy;
use crate::error::Error;
use crate::ids::RunId;

/// Active runs that are read from the store at a time.
const PAGE: usize = 256;

/// Handler calls that may wait before more runs are read: recovery does not fill the memory with work
/// that has to wait anyway.
const WAITING_MAX: usize = 4_096;

/// Brings all active runs back into memory, which begins what they have to do.
///
/// Runs of new starts may be met here; they are resident already, and are left alone.
pub(super) async fn recover(shard: Arc<Shard>, busy: Busy) {
    let mut after: Option<RunId> = None;
    loop {
        let page = match shard.ask(move |store| store.ready(after, PAGE)).await {
            Ok(page) => page,
            Err(error) => {
                tracing::error!(%error, "recovery cannot read the active runs");
                return;
            }
        };
        let Some(last) = page.last().copied() else { break };
        for run in page {
            if shard.check().is_err() {
                return;
            }
            if let Err(error) = shard.touch(run).await {
                // The others must not wait for it; the run stays marked and is looked at by the next opening.
                tracing::error!(%run, %error, "an active run cannot be recovered");
            }
            while shard.queue.waiting() + shard.errands.waiting() > WAITING_MAX && shard.check().is_ok() {
                shard.pause().await;
            }
        }
        after = Some(last);
    }
    drop(busy);
}

impl Shard {
    /// Lets others go on for a moment.
    async fn pause(&self) {
        const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);
        self.clock.sleep_until(self.clock.now().saturating_add(PAUSE)).await;
    }

    /// Makes a run resident, which begins what it has to do.
    pub(super) async fn touch(self: &Arc<Self>, run: RunId) -> Result<(), Error> {
        if self.registry.get(run)?.is_some() {
            return Ok(());
        }
        match self.summary(run).await? {
            Some(summary) => self.run(&summary.flow_id, run).await.map(drop),
            None => Ok(()),
        }
    }
}
