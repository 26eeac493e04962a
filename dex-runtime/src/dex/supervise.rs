//! Opening the store again after a fault.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::core::{Core, Current};
use super::recipe::Opening;
use crate::activity::Busy;
use crate::error::ErrorKind;
use crate::shard::{Phase, Shard};
use crate::store::StoreError;
use crate::time::first_of;

/// Pause between attempts to open a store again after a fault. A full disk, the ordinary fault, takes a
/// person's time to mend.
const REOPEN_PAUSE: Duration = Duration::from_secs(1);

/// Opens the store again whenever a shard fails.
pub(super) async fn supervise(core: Weak<Core>, mut shard: Arc<Shard>) {
    // Openings in a row that have failed before they had written anything.
    let mut useless = 0_u32;
    loop {
        let Phase::Failed(fault) = shard.ended().await else { return };
        let Some(core) = core.upgrade() else { return };
        useless = if shard.has_written() { 0 } else { useless + 1 };
        match core.replace(shard, fault, useless > 1).await {
            Some(next) => shard = next,
            None => return,
        }
    }
}

impl Core {
    /// Makes a shard in the place of one that has failed; `None` if the engine has ended otherwise.
    async fn replace(&self, failed: Arc<Shard>, fault: StoreError, pause: bool) -> Option<Arc<Shard>> {
        let _opening = self.reopening.lock().await;
        // A restart may have been faster.
        if !matches!(self.shard(), Ok(current) if Arc::ptr_eq(&current, &failed)) {
            return None;
        }
        self.set(Current::Opening(fault.into())).ok()?;
        let mut busy = failed.take_failing();
        // Only then can the folder be opened again.
        failed.kill(Phase::Replaced).await;
        drop(failed);
        if pause {
            // Handlers run again with every opening: not as fast as a full disk can refuse their outcome.
            self.pause(busy.take()).await;
        }
        let shard = loop {
            match self.recipe.open(Opening::AfterFault).await {
                Ok(shard) => break shard,
                Err(error) => {
                    tracing::error!(%error, "the store cannot be opened again yet");
                    self.set(Current::Opening(error)).ok()?;
                    self.pause(busy.take()).await;
                }
            }
        };
        self.install(&shard).await.ok()?;
        drop(busy);
        tracing::info!("the store was opened again");
        Some(shard)
    }

    /// Waits before the store is opened again; not longer than the engine is wanted. Meanwhile it has nothing
    /// to do.
    async fn pause(&self, busy: Option<Busy>) {
        let mut changed = self.changed.subscribe();
        // Looked at after subscribing: what comes between the two would be missed.
        let shut_down = self.shard().is_err_and(|error| error.kind() == ErrorKind::ShutDown);
        if shut_down || self.hurry.load(Ordering::Acquire) > 0 {
            return;
        }
        let clock = &self.recipe.clock;
        let until = clock.now().saturating_add(REOPEN_PAUSE);
        let sleep = clock.sleep_until(until);
        self.paused_until.store(until.as_micros(), Ordering::Release);
        drop(busy);
        first_of(async { drop(changed.changed().await) }, sleep).await;
        self.paused_until.store(0, Ordering::Release);
    }
}
