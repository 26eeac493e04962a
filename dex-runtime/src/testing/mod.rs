//! The same engine on a clock that a test moves, and a store in memory; and contexts to call handlers with.
//!
//! # A whole flow
//!
//! ```
//! # use dex_runtime::testing;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> dex_runtime::Result<()> {
//! let engine = testing::engine().start().await?;
//! let before = engine.now();
//! engine.advance(std::time::Duration::from_secs(24 * 3600)).await;
//! assert_eq!(engine.now().since(before).as_secs(), 24 * 3600);
//! # Ok(()) }
//! ```
//!
//! # One handler
//!
//! A step is a plain method. A test makes a context, calls the step, and looks at what it
//! [staged][`StepContext::staged`], [published][`StepContext::published`], [appended][`StepContext::appended`] and
//! decided ([`Next::steps`], [`Next::inputs`], [`Next::output`]). The same goes for a `wait_for` ([`WaitContext::test`],
//! [`Wait::in_words`]) and an RPC ([`RpcContext::test`]).
//!
//! [`Next::steps`]: crate::definition::Next::steps
//! [`Next::inputs`]: crate::definition::Next::inputs
//! [`Next::output`]: crate::definition::Next::output
//! [`Wait::in_words`]: crate::definition::Wait::in_words
//! [`WaitContext::test`]: crate::definition::WaitContext::test
//! [`RpcContext::test`]: crate::definition::RpcContext::test
//! [`StepContext::staged`]: crate::definition::StepContext::staged
//! [`StepContext::published`]: crate::definition::StepContext::published
//! [`StepContext::appended`]: crate::definition::StepContext::appended

mod clock;
mod handler;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use self::clock::VirtualClock;
pub use self::handler::{Change, ContextBuilder, TestContext};

use crate::client::Client;
use crate::definition::Flow;
use crate::dex::{Builder, Dex, Opener};
use crate::error::{ErrorKind, Result};
use crate::options::Options;
use crate::store::Store;
use crate::store::fjall::{FjallOptions, FjallStore};
pub use crate::store::memory::{FailAt, Gate, MemoryStore};
use crate::time::{Clock, Timestamp};

/// An engine for a test.
pub fn engine() -> TestBuilder {
    engine_on(MemoryStore::new())
}

/// An engine for a test on a store that the test keeps, to make it fail.
pub fn engine_on(store: MemoryStore) -> TestBuilder {
    let current = Arc::new(Mutex::new(Arc::new(store)));
    let shared = Arc::clone(&current);
    let opener: Opener = Arc::new(move || {
        let mut current = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let next = Arc::new(current.reopen());
        *current = Arc::clone(&next);
        Ok(next as Arc<dyn Store>)
    });
    TestBuilder::new(opener, Some(current))
}

/// An engine for a test on the store that applications use, in the folder `path`.
pub fn engine_in(path: impl AsRef<Path>) -> TestBuilder {
    let path = path.as_ref().to_owned();
    let opener: Opener = Arc::new(move || {
        let store = FjallStore::open(&path, FjallOptions::default())?;
        Ok(Arc::new(store) as Arc<dyn Store>)
    });
    TestBuilder::new(opener, None)
}

/// An engine for a test, before it is started; made by [`engine`].
#[derive(Debug)]
#[must_use = "the engine does not run until `.start().await`"]
pub struct TestBuilder {
    builder: Builder,
    clock: VirtualClock,
    store: Option<Arc<Mutex<Arc<MemoryStore>>>>,
}

impl TestBuilder {
    fn new(opener: Opener, store: Option<Arc<Mutex<Arc<MemoryStore>>>>) -> Self {
        let clock = VirtualClock::default();
        Self { builder: Builder::new(opener, Arc::new(clock.clone())).counted(), clock, store }
    }

    /// Registers a flow; its value serves all its runs.
    pub fn flow<F: Flow>(self, flow: F) -> Self {
        Self { builder: self.builder.flow(flow), ..self }
    }

    /// Sets the engine's bounds.
    pub fn options(self, options: Options) -> Self {
        Self { builder: self.builder.options(options), ..self }
    }

    /// Starts the clock at `now`, for a store in which time has passed already.
    pub fn now(self, now: Timestamp) -> Self {
        self.clock.set(now);
        self.clock.set_back(now);
        self
    }

    /// Makes the engine crash after every single transition, right after it is on disk and before anything
    /// follows from it, and open its store again.
    ///
    /// A flow has to end in the same way with and without this.
    pub fn crash_after_every_transition(self) -> Self {
        Self { builder: self.builder.crash_after_every_transition(), ..self }
    }

    /// Starts the engine.
    ///
    /// # Errors
    ///
    /// As [`Builder::start`].
    pub async fn start(self) -> Result<TestEngine> {
        let dex = self.builder.start().await?;
        Ok(TestEngine { dex, clock: self.clock, store: self.store })
    }
}

/// Longest time, of the real clock, that a test waits for handlers to end before it moves its clock all
/// the same.
const QUIET_MAX: Duration = Duration::from_secs(10);

/// A handler that awaits something for this long, of the real clock, while nothing else happens is taken
/// to be meant to hang, or to wait for the test.
const HANGS_AFTER: Duration = Duration::from_millis(50);

/// How soon, on the real clock, an engine that is being opened is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A running engine of a test.
#[derive(Clone, Debug)]
pub struct TestEngine {
    dex: Dex,
    clock: VirtualClock,
    store: Option<Arc<Mutex<Arc<MemoryStore>>>>,
}

impl TestEngine {
    /// Starts and finds runs of flow `F`.
    pub fn client<F: Flow>(&self) -> Client<F> {
        self.dex.client()
    }

    /// The engine as an application has it.
    pub fn dex(&self) -> &Dex {
        &self.dex
    }

    /// The value that flow `F` was registered with.
    ///
    /// # Panics
    ///
    /// If the flow was not registered.
    #[expect(clippy::expect_used, reason = "a test that asks for a flow it did not register is wrong")]
    pub fn flow<F: Flow>(&self) -> Arc<F> {
        self.dex.flow().expect("the flow was registered with this engine")
    }

    /// The time of the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The store that is open now, to make it fail.
    ///
    /// # Panics
    ///
    /// If the engine was made by [`engine_in`]: a store in a folder does not fail at will.
    #[expect(clippy::expect_used, reason = "a test that asks a folder to fail is wrong")]
    pub fn store(&self) -> Arc<MemoryStore> {
        let store = self.store.as_ref().expect("the engine is on a store in memory");
        Arc::clone(&store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until nothing is under way: all that is left waits for a message, a call or the time.
    ///
    /// A handler that awaits something else is waited for no longer than it takes to see that nothing else
    /// happens.
    pub async fn settle(&self) {
        let activity = self.dex.core().activity();
        let quiet = async {
            let mut before = None;
            while tokio::time::timeout(HANGS_AFTER, activity.idle()).await.is_err() {
                let now = activity.only_awaiting();
                if now.is_some() && now == before {
                    return;
                }
                before = now;
            }
        };
        // A handler that keeps a thread must not hang the test.
        let _ = tokio::time::timeout(QUIET_MAX, quiet).await;
    }

    /// Moves the clock on, and lets everything happen that is due on the way, in its order.
    pub async fn advance(&self, duration: Duration) {
        let target = self.clock.now().saturating_add(duration);
        loop {
            self.settle().await;
            let core = self.dex.core();
            let sleeper = self.clock.next_sleeper();
            let (shard, next) = match core.shard() {
                Ok(shard) => {
                    let timer = shard.timers.next();
                    (Some(shard), Some(sleeper.map_or(timer, |sleeper| sleeper.min(timer))))
                }
                Err(error) if error.kind() == ErrorKind::ShutDown => (None, Some(Timestamp::MAX)),
                // Somebody else may sleep, too; the store is opened at the end of the pause.
                Err(_) => (None, Some(core.paused_until()).filter(|until| *until > self.clock.now())),
            };
            let Some(next) = next else {
                // The store is being opened, or somebody is about to sleep before it is.
                let _ = tokio::time::timeout(LOOK_AGAIN, core.changed()).await;
                continue;
            };
            if next > target {
                break;
            }
            self.clock.set(next);
            if let Some(shard) = shard {
                // The engine's own timer task does the same; whoever is first does it.
                let _ = shard.tick().await;
            }
        }
        self.clock.set(target);
        self.settle().await;
    }

    /// Sets the clock back by `duration`, as an operator or a time service may do with a machine's.
    ///
    /// Timers that are set are instants, and so they are as much later. [`advance`](Self::advance) goes on from the
    /// earlier time.
    ///
    /// ```
    /// # use dex_runtime::testing;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> dex_runtime::Result<()> {
    /// # use std::time::Duration;
    /// let engine = testing::engine().start().await?;
    /// let before = engine.now();
    /// engine.set_back(Duration::from_secs(60)).await;
    /// assert_eq!(before.since(engine.now()), Duration::from_secs(60));
    /// # Ok(()) }
    /// ```
    pub async fn set_back(&self, duration: Duration) {
        let earlier = self.clock.now().since(Timestamp::EPOCH).saturating_sub(duration);
        self.clock.set_back(Timestamp::EPOCH.saturating_add(earlier));
        self.settle().await;
    }

    /// Ends the engine as a crash would, and opens its store again.
    ///
    /// # Errors
    ///
    /// As [`Builder::start`].
    pub async fn restart(&self) -> Result<()> {
        self.dex.core().restart().await
    }

    /// Stops the engine; see [`Dex::shutdown`].
    ///
    /// # Errors
    ///
    /// As [`Dex::shutdown`].
    pub async fn shutdown(&self, grace: Duration) -> Result<()> {
        self.dex.shutdown(grace).await
    }
}
