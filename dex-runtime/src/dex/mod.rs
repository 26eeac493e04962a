//! `Dex`: opens a store, wires the parts, opens again after a fault, shuts down in order.
//!
//! `Dex` and its builder are what applications see. `Core` is what all handles share: it knows which shard
//! works now, and makes the next one. Nothing else knows every part.

mod core;
mod durable;
mod recipe;
mod supervise;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicUsize};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use tokio::sync::watch;

use crate::activity::Activity;
use crate::client::{Client, DynClient};
use crate::definition::{Flow, Flows};
use crate::error::{Error, ErrorKind, Result};
use crate::inspect::Inspect;
use crate::options::Options;
use crate::shard::AfterCommit;
use crate::store::fjall::{self, FjallOptions, FjallStore, RepairReport};
use crate::store::memory::MemoryStore;
use crate::store::{Store, StoreError};
use crate::time::{Clock, SystemClock, Timestamp};
use crate::worker;

use self::core::Current;
use self::recipe::{Opening, Recipe};
use self::supervise::supervise;

pub(crate) use self::core::Core;

pub(crate) use self::durable::written;

/// Opens the store; called again after a fault.
pub(crate) type Opener = Arc<dyn Fn() -> Result<Arc<dyn Store>, StoreError> + Send + Sync>;

/// An engine that is running. Cheap to clone; all clones are the same engine.
///
/// Dropping it does not stop it. [`shutdown`](Self::shutdown) does; and if the process just ends, nothing
/// that was accepted is lost.
#[derive(Clone)]
pub struct Dex {
    core: Arc<Core>,
}

/// An engine that is about to be started; made by [`Dex::open`].
#[must_use = "the engine does not run until `.start().await`"]
pub struct Builder {
    opener: Opener,
    flows: Result<Flows>,
    options: Options,
    clock: Arc<dyn Clock>,
    after_commit: AfterCommit,
    activity: Activity,
}

impl Dex {
    /// An engine on the store in the folder `path`, which is made if it does not exist.
    ///
    /// One process has a folder open at a time.
    pub fn open(path: impl AsRef<Path>) -> Builder {
        let path = path.as_ref().to_owned();
        Builder::new(
            Arc::new(move || {
                let store = FjallStore::open(&path, FjallOptions::default())?;
                Ok(Arc::new(store) as Arc<dyn Store>)
            }),
            Arc::new(SystemClock::default()),
        )
    }

    /// An engine whose runs are kept in memory: for demonstrations, and for what need not survive the process.
    ///
    /// It has the clock of the machine; for tests there is [`testing`](crate::testing).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> dex_runtime::Result<()> {
    /// let dex = dex_runtime::Dex::in_memory().start().await?;
    /// assert!(dex.dynamic().definitions().is_empty());
    /// # dex.shutdown(std::time::Duration::ZERO).await }
    /// ```
    pub fn in_memory() -> Builder {
        // Nothing outlives the process, with power or without.
        let store = MemoryStore::without_power_loss();
        Builder::new(
            // After a fault the same data are opened again.
            Arc::new(move || Ok(Arc::new(store.reopen()) as Arc<dyn Store>)),
            Arc::new(SystemClock::default()),
        )
    }

    /// Repairs a store that [`open`](Self::open) refuses as damaged, and reports what is lost. Blocks.
    ///
    /// It cuts the store back to the last commit that is whole, and keeps what was there in a folder beside the
    /// data. A run whose history is partly lost is as it was at some earlier time, or is set aside.
    ///
    /// ```
    /// use dex_runtime::{Dex, ErrorKind};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> dex_runtime::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path();
    /// # Dex::open(path).start().await?.shutdown(std::time::Duration::ZERO).await?;
    /// # std::fs::write(path.join("data/dex-watermark"), "what a broken disk leaves").unwrap();
    /// let error = Dex::open(path).start().await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::DamagedStore);
    ///
    /// // For a person to decide: what it gives up is gone.
    /// let report = Dex::repair(path)?;
    /// println!("lost: {:?}; done: {:?}", report.lost, report.actions);
    /// assert!(report.backup.exists());
    /// let dex = Dex::open(path).start().await?;
    /// # dex.shutdown(std::time::Duration::ZERO).await }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::StoreInUse`], [`ErrorKind::ForeignStore`], [`ErrorKind::NewerStore`]: nothing was done.
    /// - [`ErrorKind::DamagedStore`]: it cannot be repaired, and is as it was. Put back a copy of the folder.
    ///
    /// [`ErrorKind::StoreInUse`]: crate::ErrorKind::StoreInUse
    /// [`ErrorKind::ForeignStore`]: crate::ErrorKind::ForeignStore
    /// [`ErrorKind::NewerStore`]: crate::ErrorKind::NewerStore
    /// [`ErrorKind::DamagedStore`]: crate::ErrorKind::DamagedStore
    pub fn repair(path: impl AsRef<Path>) -> Result<RepairReport> {
        Ok(fjall::repair(path)?)
    }

    /// Starts and finds runs of flow `F`.
    pub fn client<F: Flow>(&self) -> Client<F> {
        Client::new(Arc::clone(&self.core))
    }

    /// Starts and finds runs of whatever flow by names and JSON, for tools.
    pub fn dynamic(&self) -> DynClient {
        DynClient::new(Arc::clone(&self.core))
    }

    /// Read-only questions about runs of whatever flow, for tools.
    pub fn inspect(&self) -> Inspect {
        Inspect::new(Arc::clone(&self.core))
    }

    /// The value that flow `F` was registered with.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownFlow`] if it was not registered.
    ///
    /// [`ErrorKind::UnknownFlow`]: crate::ErrorKind::UnknownFlow
    pub fn flow<F: Flow>(&self) -> Result<Arc<F>> {
        self.core.flows.value()
    }

    /// Takes no more calls, lets running handlers end for up to `grace`, then drops them, and closes the
    /// store. What was left goes on at the next opening.
    ///
    /// A second call waits for the same end, and brings it forward if its own grace ends earlier. A step may ask for it too: it is then one of the handlers that are dropped.
    /// To be called on a tokio runtime.
    ///
    /// # Errors
    ///
    /// A store that cannot be closed properly; nothing is lost then, the next opening only takes longer.
    pub async fn shutdown(&self, grace: Duration) -> Result<()> {
        let core = Arc::clone(&self.core);
        let by = core.clock().now().saturating_add(grace);
        core.stop_by.send_if_modified(|earliest| {
            let earlier = by < *earliest;
            *earliest = by.min(*earliest);
            earlier
        });
        // In a task of its own: a handler that asks for this is itself dropped on the way.
        let stopping = tokio::spawn(async move {
            let _stopping = core.stopping.lock().await;
            let Some(shard) = core.retire().await else { return Ok(()) };
            let left = shard.stop(core.stop_by.subscribe()).await;
            if left > 0 {
                tracing::warn!(
                    left,
                    "handlers were still running after the grace period; they run again later"
                );
            }
            shard.close_store().await
        });
        let stopped = stopping.await;
        stopped.unwrap_or_else(|e| Err(Error::new(ErrorKind::Unavailable, format!("shutting down: {e}"))))
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

impl fmt::Debug for Dex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dex").finish_non_exhaustive()
    }
}

impl Builder {
    pub(crate) fn new(opener: Opener, clock: Arc<dyn Clock>) -> Self {
        Self {
            opener,
            flows: Ok(Flows::default()),
            options: Options::default(),
            clock,
            after_commit: AfterCommit::Release,
            activity: Activity::default(),
        }
    }

    /// Counts what is under way, for who waits until nothing is.
    pub(crate) fn counted(mut self) -> Self {
        self.activity = Activity::counted();
        self
    }

    /// Registers a flow; its value serves all its runs.
    pub fn flow<F: Flow>(mut self, flow: F) -> Self {
        self.flows = self.flows.and_then(|mut flows| flows.add(flow).map(|()| flows));
        self
    }

    /// Sets the engine's bounds.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    pub(crate) fn crash_after_every_transition(mut self) -> Self {
        self.after_commit = AfterCommit::Crash;
        self
    }

    /// Opens the store and starts the engine. To be called on a tokio runtime, which then runs it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::StoreInUse`], [`ErrorKind::ForeignStore`], [`ErrorKind::NewerStore`],
    ///   [`ErrorKind::DamagedStore`], [`ErrorKind::DiskFull`]: the folder cannot be used; it is as before.
    /// - [`ErrorKind::UnknownFlow`]: the store has open runs of a flow that was not registered.
    /// - [`ErrorKind::InvalidSetup`]: a flow was registered twice, or an option is 0 with which nothing could happen.
    ///
    /// [`ErrorKind::StoreInUse`]: crate::ErrorKind::StoreInUse
    /// [`ErrorKind::ForeignStore`]: crate::ErrorKind::ForeignStore
    /// [`ErrorKind::NewerStore`]: crate::ErrorKind::NewerStore
    /// [`ErrorKind::DamagedStore`]: crate::ErrorKind::DamagedStore
    /// [`ErrorKind::DiskFull`]: crate::ErrorKind::DiskFull
    /// [`ErrorKind::UnknownFlow`]: crate::ErrorKind::UnknownFlow
    /// [`ErrorKind::InvalidSetup`]: crate::ErrorKind::InvalidSetup
    pub async fn start(self) -> Result<Dex> {
        worker::install_hook();
        let Self { opener, flows, options, clock, after_commit, activity } = self;
        options.check()?;
        let flows = Arc::new(flows?);
        let recipe = Recipe { opener, flows, options, clock, activity, after_commit };
        let shard = recipe.open(Opening::Process).await?;
        let core = Arc::new(Core {
            flows: Arc::clone(&recipe.flows),
            recipe,
            current: RwLock::new(Current::Open(Arc::clone(&shard))),
            changed: watch::Sender::new(()),
            reopening: tokio::sync::Mutex::default(),
            stopping: tokio::sync::Mutex::default(),
            stop_by: watch::Sender::new(Timestamp::MAX),
            hurry: AtomicUsize::new(0),
            paused_until: AtomicI64::new(0),
        });
        tokio::spawn(supervise(Arc::downgrade(&core), shard));
        Ok(Dex { core })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("flows", &self.flows)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
