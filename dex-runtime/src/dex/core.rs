//! What all handles of an engine share: which shard works now.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::watch;

use super::recipe::{Opening, Recipe};
use super::supervise::supervise;
use crate::activity::Activity;
use crate::definition::Flows;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::shard::{Phase, Shard};
use crate::time::{Clock, Timestamp, first_of};

/// What all handles of an engine share.
pub(crate) struct Core {
    pub(super) flows: Arc<Flows>,
    pub(super) recipe: Recipe,
    pub(super) current: RwLock<Current>,
    /// Told when `current` has changed.
    pub(super) changed: watch::Sender<()>,
    /// Held by whoever opens the store again: there is one opening at a time.
    pub(super) reopening: tokio::sync::Mutex<()>,
    /// Held by whoever shuts the engine down: who asks for it too waits until it is done.
    pub(super) stopping: tokio::sync::Mutex<()>,
    /// Until when running handlers may end once the engine is being shut down.
    pub(super) stop_by: watch::Sender<Timestamp>,
    /// Restarts that wait for the opening; a pause before it is then cut short.
    pub(super) hurry: AtomicUsize,
    /// Until when there is a pause before the next opening; in the past if there is none.
    pub(super) paused_until: AtomicI64,
}

/// The engine was shut down, so nothing takes the place of what was.
#[derive(Debug)]
pub(super) struct HasShutDown;

pub(super) enum Current {
    Open(Arc<Shard>),
    /// A commit failed; the store is being opened again.
    Opening(Error),
    ShutDown,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("flows", &self.flows).finish_non_exhaustive()
    }
}

impl Core {
    pub(crate) fn flows(&self) -> &Flows {
        &self.flows
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.recipe.clock
    }

    pub(crate) fn options(&self) -> &Options {
        &self.recipe.options
    }

    /// The shard that works now.
    pub(crate) fn shard(&self) -> Result<Arc<Shard>> {
        match &*self.current.read().unwrap_or_else(PoisonError::into_inner) {
            Current::Open(shard) => Ok(Arc::clone(shard)),
            Current::Opening(why) => Err(why.clone()),
            Current::ShutDown => Err(Error::new(ErrorKind::ShutDown, "the engine was shut down")),
        }
    }

    /// Does something with the shard that works now, and again with the next one if the store was opened
    /// again before anything was changed.
    pub(crate) async fn with_shard<T, D>(&self, mut what: impl FnMut(Arc<Shard>) -> D) -> Result<T>
    where
        D: Future<Output = Result<T>>,
    {
        let deadline = self.recipe.clock.now().saturating_add(REOPEN_WAIT);
        loop {
            let shard = self.shard_by(deadline).await?;
            match what(Arc::clone(&shard)).await {
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    if !shard.has_successor() {
                        shard.check()?;
                        return Err(error);
                    }
                    self.successor_by(&shard, deadline, error).await?;
                }
                done => return done,
            }
        }
    }

    /// The shard that works now; waits until `deadline` for one that is being opened again.
    async fn shard_by(&self, deadline: Timestamp) -> Result<Arc<Shard>> {
        let mut changed = self.changed.subscribe();
        loop {
            match self.shard() {
                // It may come back any moment. Other faults take a person.
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    let sleep = self.recipe.clock.sleep_until(deadline);
                    let next = async { drop(changed.changed().await) };
                    first_of(next, sleep).await;
                    if self.recipe.clock.now() >= deadline {
                        return self.shard();
                    }
                }
                other => return other,
            }
        }
    }

    /// Completes when another shard than `failed` works, or fails with `error` at the deadline.
    async fn successor_by(&self, failed: &Arc<Shard>, deadline: Timestamp, error: Error) -> Result<()> {
        let mut changed = self.changed.subscribe();
        loop {
            if !Arc::ptr_eq(&self.shard_by(deadline).await?, failed) {
                return Ok(());
            }
            let sleep = self.recipe.clock.sleep_until(deadline);
            first_of(async { drop(changed.changed().await) }, sleep).await;
            if self.recipe.clock.now() >= deadline {
                return Err(error);
            }
        }
    }

    /// The shard that works now, or the next one if the store is being opened again.
    pub(crate) async fn shard_or_wait(&self) -> Result<Arc<Shard>> {
        let mut changed = self.changed.subscribe();
        loop {
            match self.shard() {
                Err(error) if error.kind() != ErrorKind::ShutDown => {
                    if changed.changed().await.is_err() {
                        return Err(error);
                    }
                }
                other => return other,
            }
        }
    }

    /// Until when there is a pause before the store is opened again; in the past if there is none.
    pub(crate) fn paused_until(&self) -> Timestamp {
        Timestamp::from_micros(self.paused_until.load(Ordering::Acquire))
    }

    /// Completes when another shard works, or the engine has ended.
    pub(crate) async fn changed(&self) {
        let mut changed = self.changed.subscribe();
        if self.shard().is_err_and(|error| error.kind() != ErrorKind::ShutDown) {
            let _ = changed.changed().await;
        }
    }

    /// Completes when another shard than `before` works.
    pub(crate) async fn after(&self, before: &Arc<Shard>) -> Result<()> {
        let mut changed = self.changed.subscribe();
        loop {
            if !Arc::ptr_eq(&self.shard_or_wait().await?, before) {
                return Ok(());
            }
            // The old shard has ended and its successor is not there yet.
            let _ = changed.changed().await;
        }
    }

    /// Changes what callers meet. Gives what they met before; fails once the engine was shut down.
    pub(super) fn set(&self, next: Current) -> Result<Current, HasShutDown> {
        let before = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            if matches!(*current, Current::ShutDown) {
                return Err(HasShutDown);
            }
            std::mem::replace(&mut *current, next)
        };
        self.changed.send_replace(());
        Ok(before)
    }

    /// Puts a new shard to work, or ends it if the engine was shut down while it was made.
    pub(super) async fn install(&self, shard: &Arc<Shard>) -> Result<(), HasShutDown> {
        let installed = self.set(Current::Open(Arc::clone(shard)));
        if installed.is_err() {
            shard.kill(Phase::Stopped).await;
        }
        installed.map(drop)
    }

    /// Takes no more calls, for good.
    pub(super) async fn retire(&self) -> Option<Arc<Shard>> {
        match self.set(Current::ShutDown) {
            Ok(Current::Open(shard)) => Some(shard),
            // Whoever opens the store again ends that opening.
            Ok(Current::Opening(_) | Current::ShutDown) => {
                drop(self.reopening.lock().await);
                None
            }
            Err(HasShutDown) => None,
        }
    }

    pub(crate) fn activity(&self) -> &Activity {
        &self.recipe.activity
    }

    /// Stops at once and opens the store again, as a crash and a restart would.
    ///
    /// # Errors
    ///
    /// As [`Builder::start`]; the engine has then ended.
    pub(crate) async fn restart(self: &Arc<Self>) -> Result<()> {
        let why = Error::new(ErrorKind::Unavailable, "the engine is being opened again");
        self.hurry.fetch_add(1, Ordering::AcqRel);
        // At first so that a pause after a fault ends, and again for what that has opened meanwhile.
        let Ok(before) = self.set(Current::Opening(why.clone())) else { return self.shard().map(drop) };
        let _opening = self.reopening.lock().await;
        self.hurry.fetch_sub(1, Ordering::AcqRel);
        let Ok(meanwhile) = self.set(Current::Opening(why)) else { return self.shard().map(drop) };
        let mut busy = Vec::new();
        for ended in [before, meanwhile] {
            if let Current::Open(shard) = ended {
                busy.extend(shard.take_failing());
                shard.kill(Phase::Replaced).await;
            }
        }
        let opened = self.recipe.open(Opening::Process).await;
        let shard = opened.inspect_err(|_| drop(self.set(Current::ShutDown)))?;
        if self.install(&shard).await.is_ok() {
            tokio::spawn(supervise(Arc::downgrade(self), shard));
        }
        drop(busy);
        Ok(())
    }
}

/// Longest time that a call waits for a store that is being opened again, before it says so.
const REOPEN_WAIT: Duration = Duration::from_secs(5);
