//! `Dex`: opens a store, wires the parts, opens again after a fault, shuts down in order.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::activity::{Activity, Busy};
use crate::client::Client;
use crate::commit::{NotTaken, Ticket};
use crate::definition::{Flow, Flows};
use crate::error::{Error, ErrorKind, Result};
use crate::inspect::Inspect;
use crate::options::Options;
use crate::shard::{AfterCommit, Parts, Phase, Shard};
use crate::store::fjall::{FjallOptions, FjallStore};
use crate::store::{Store, StoreError};
use crate::time::{Clock, SystemClock, Timestamp, first_of};
use crate::worker;

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
            Arc::new(SystemClock),
        )
    }

    /// Starts and finds runs of flow `F`.
    pub fn client<F: Flow>(&self) -> Client<F> {
        Client::new(Arc::clone(&self.core))
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
    pub fn flow<F: Flow>(&self) -> Result<Arc<F>> {
        self.core.flows.value()
    }

    /// Takes no more calls, lets running handlers end for up to `grace`, then drops them, and closes the
    /// store. What was left goes on at the next opening.
    ///
    /// A second call does nothing.
    ///
    /// # Errors
    ///
    /// A store that cannot be closed properly; nothing is lost then, the next opening only takes longer.
    pub async fn shutdown(&self, grace: Duration) -> Result<()> {
        let Some(shard) = self.core.retire().await else { return Ok(()) };
        let left = shard.stop(grace).await;
        if left > 0 {
            tracing::warn!(left, "handlers were still running after the grace period; they run again later");
        }
        shard.close_store().await
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
        }
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
    /// - [`ErrorKind::InvalidSetup`]: a flow was registered twice.
    pub async fn start(self) -> Result<Dex> {
        worker::install_hook();
        let Self { opener, flows, options, clock, after_commit } = self;
        let (flows, activity) = (Arc::new(flows?), Activity::default());
        let recipe = Recipe { opener, flows, options, clock, activity, after_commit };
        let shard = recipe.open().await?;
        let core = Arc::new(Core {
            flows: Arc::clone(&recipe.flows),
            recipe,
            current: RwLock::new(Current::Open(Arc::clone(&shard))),
            changed: watch::Sender::new(()),
            reopening: tokio::sync::Mutex::default(),
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

/// How to make a shard.
struct Recipe {
    opener: Opener,
    flows: Arc<Flows>,
    options: Options,
    clock: Arc<dyn Clock>,
    activity: Activity,
    after_commit: AfterCommit,
}

impl Recipe {
    async fn open(&self) -> Result<Arc<Shard>> {
        let (opener, flows) = (Arc::clone(&self.opener), Arc::clone(&self.flows));
        let opening = tokio::task::spawn_blocking(move || {
            let store = opener()?;
            check_flows(&*store, &flows)?;
            Ok::<_, Error>(store)
        });
        let store = opening
            .await
            .map_err(|e| Error::new(ErrorKind::DamagedStore, format!("opening the store: {e}")))??;
        Shard::start(Parts {
            store,
            flows: Arc::clone(&self.flows),
            options: self.options.clone(),
            clock: Arc::clone(&self.clock),
            activity: self.activity.clone(),
            after_commit: self.after_commit,
        })
    }
}

/// Refuses a store with open runs of a flow that is not registered: they would stand without a word.
fn check_flows(store: &dyn Store, flows: &Flows) -> Result<()> {
    const PAGE: usize = 1_024;
    let unknown: Vec<_> = store.flows()?.into_iter().filter(|name| flows.get(name).is_none()).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let mut after = None;
    loop {
        let page = store.runs(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.run);
        let open = page.iter().find(|run| !run.status.is_closed() && unknown.contains(&run.flow));
        if let Some(run) = open {
            let message = format!(
                "the store has open runs of flow `{}` (`{}` is one), which is not registered: add `.flow(..)` for it",
                run.flow, run.flow_id,
            );
            return Err(Error::new(ErrorKind::UnknownFlow, message));
        }
    }
}

/// What all handles of an engine share.
pub(crate) struct Core {
    flows: Arc<Flows>,
    recipe: Recipe,
    current: RwLock<Current>,
    /// Told when `current` has changed.
    changed: watch::Sender<()>,
    /// Held by whoever opens the store again: there is one opening at a time.
    reopening: tokio::sync::Mutex<()>,
    /// Restarts that wait for that; a pause before an opening is then cut short.
    hurry: AtomicUsize,
    /// Until when there is a pause before the next opening; in the past if there is none.
    paused_until: AtomicI64,
}

/// The engine was shut down, so nothing takes the place of what was.
#[derive(Debug)]
struct HasShutDown;

enum Current {
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
    fn set(&self, next: Current) -> Result<Current, HasShutDown> {
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
    async fn install(&self, shard: &Arc<Shard>) -> Result<(), HasShutDown> {
        let installed = self.set(Current::Open(Arc::clone(shard)));
        if installed.is_err() {
            shard.kill(Phase::Stopped).await;
        }
        installed.map(drop)
    }

    /// Takes no more calls, for good.
    async fn retire(&self) -> Option<Arc<Shard>> {
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
        let opened = self.recipe.open().await;
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

/// Pause between attempts to open a store again after a fault. A full disk, the ordinary fault, takes a
/// person's time to mend.
const REOPEN_PAUSE: Duration = Duration::from_secs(1);

/// Opens the store again whenever a shard fails.
async fn supervise(core: Weak<Core>, mut shard: Arc<Shard>) {
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
            match self.recipe.open().await {
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

/// Waits until a commit is on disk.
pub(crate) async fn written(answer: oneshot::Receiver<Result<(), StoreError>>) -> Result<()> {
    match answer.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(fault)) if fault.nothing_written() => Err(fault.into()),
        Ok(Err(fault)) => Err(unknown_outcome(&fault.to_string())),
        Err(_) => Err(unknown_outcome("the engine was stopped")),
    }
}

fn unknown_outcome(why: &str) -> Error {
    let message =
        format!("the change may have been made or not ({why}): look at the run before repeating it");
    Error::new(ErrorKind::OutcomeUnknown, message)
}

impl Shard {
    /// Waits until everything up to `ticket` is on disk.
    pub(crate) async fn durable(&self, ticket: Option<Ticket>) -> Result<()> {
        let Some(ticket) = ticket else { return Ok(()) };
        self.writer.committer.durable(ticket).await.map_err(|reason| match reason {
            NotTaken::Fault(fault) => fault.into(),
            other => Error::new(ErrorKind::Unavailable, other.to_string()),
        })
    }
}
