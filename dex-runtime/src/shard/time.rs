//! Firing timers.

use std::sync::Arc;
use std::time::Duration;

use super::lookup::Found;
use super::{Phase, Shard};
use crate::engine::{Command, Rejection};
use crate::error::{Error, ErrorKind};
use crate::registry::{Refused, Submit};
use crate::store::Due;
use crate::time::first_of;

/// Pause before the store is asked again for timers after it could not be read.
const AGAIN: Duration = Duration::from_secs(1);

/// Fires timers until the shard ends.
pub(super) async fn keep_time(shard: Arc<Shard>) {
    let shard = Arc::downgrade(&shard);
    loop {
        let Some(shard) = shard.upgrade() else { return };
        if shard.check().is_err() {
            return;
        }
        if let Err(error) = shard.tick().await {
            if shard.check().is_err() {
                return;
            }
            tracing::error!(%error, "timers cannot be read; trying again");
            let sleep = shard.clock.sleep_until(shard.clock.now().saturating_add(AGAIN));
            first_of(sleep, shard.ended_quietly()).await;
            continue;
        }
        let sleep = shard.clock.sleep_until(shard.timers.next());
        first_of(first_of(sleep, shard.timers.changed()), shard.ended_quietly()).await;
    }
}

impl Shard {
    async fn ended_quietly(&self) {
        let _: Phase = self.ended().await;
    }

    /// Fires what is due now.
    pub(crate) async fn tick(self: &Arc<Self>) -> Result<(), Error> {
        let _busy = self.activity.begin();
        let now = self.clock.now();
        if self.timers.needs_refill(now) {
            let shard = Arc::clone(self);
            self.ask(move |store| shard.timers.refill(store, now)).await?;
        }
        let mut failed = Ok(());
        for due in self.timers.take(now) {
            match self.fire(due).await {
                Ok(()) => {}
                // Asking again does not mend the run; the timer stays in the store for the next opening.
                Err(error) if matches!(error.kind(), ErrorKind::Quarantined | ErrorKind::DamagedStore) => {
                    tracing::error!(run = %due.run, %error, "a timer cannot be fired");
                }
                Err(error) => {
                    self.timers.put_back(due);
                    failed = Err(error);
                }
            }
        }
        failed
    }

    async fn fire(self: &Arc<Self>, due: Due) -> Result<(), Error> {
        loop {
            let Some(Found::Open(run)) = self.find(due.run).await? else { return Ok(()) };
            let command = Command::FireTimer { execution: due.execution };
            match self.writer.submit(&run, command, Submit::URGENT) {
                Ok(_)
                // A paused run arms its timers again when it is resumed.
                | Err(Refused::Rejected(Rejection::Closed { .. } | Rejection::Paused)) => return Ok(()),
                Err(Refused::Rejected(Rejection::NothingDue { .. })) => {
                    self.timers.keep_early(due, self.clock.now());
                    return Ok(());
                }
                Err(Refused::Passivated) => self.check()?,
                Err(refused) => return Err(refused.into_error(run.identity())),
            }
        }
    }

    async fn find(self: &Arc<Self>, run: crate::ids::RunId) -> Result<Option<Found>, Error> {
        if let Some(resident) = self.registry.get(run)? {
            return Ok(Some(Found::Open(resident)));
        }
        match self.summary(run).await? {
            Some(summary) => self.run(&summary.flow_id, run).await,
            None => Ok(None),
        }
    }
}
