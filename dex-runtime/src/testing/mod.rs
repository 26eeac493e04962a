//! The same engine on a clock that a test moves, and a store in memory.
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

mod clock;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use self::clock::VirtualClock;

use crate::client::Client;
use crate::definition::Flow;
use crate::dex::{Builder, Dex, Opener};
use crate::error::Result;
use crate::options::Options;
use crate::store::Store;
use crate::store::memory::MemoryStore;
use crate::time::{Clock, Timestamp};

/// An engine for a test.
pub fn engine() -> TestBuilder {
    engine_on(MemoryStore::new())
}

/// An engine for a test on a store that the test keeps, to make it fail.
pub fn engine_on(store: MemoryStore) -> TestBuilder {
    let clock = VirtualClock::default();
    let current = Arc::new(Mutex::new(Arc::new(store)));
    let opened = Arc::clone(&current);
    let opener: Opener = Arc::new(move || {
        let mut current = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let next = Arc::new(current.reopen());
        *current = Arc::clone(&next);
        Ok(next as Arc<dyn Store>)
    });
    let builder = Builder::new(opener, Arc::new(clock.clone()));
    TestBuilder { builder, clock, store: current }
}

/// An engine for a test, before it is started; made by [`engine`].
#[derive(Debug)]
#[must_use = "the engine does not run until `.start().await`"]
pub struct TestBuilder {
    builder: Builder,
    clock: VirtualClock,
    store: Arc<Mutex<Arc<MemoryStore>>>,
}

impl TestBuilder {
    /// Registers a flow; its value serves all its runs.
    pub fn flow<F: Flow>(self, flow: F) -> Self {
        Self { builder: self.builder.flow(flow), ..self }
    }

    /// Sets the engine's bounds.
    pub fn options(self, options: Options) -> Self {
        Self { builder: self.builder.options(options), ..self }
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
/// the same: a handler may be meant to hang.
const QUIET_MAX: Duration = Duration::from_secs(10);

/// A running engine of a test.
#[derive(Clone, Debug)]
pub struct TestEngine {
    dex: Dex,
    clock: VirtualClock,
    store: Arc<Mutex<Arc<MemoryStore>>>,
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
    pub fn store(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until nothing is under way: all that is left waits for a message, a call or the time.
    pub async fn settle(&self) {
        // A handler that hangs must not hang the test.
        let _ = tokio::time::timeout(QUIET_MAX, self.dex.core().activity().idle()).await;
    }

    /// Moves the clock on, and lets everything happen that is due on the way, in its order.
    pub async fn advance(&self, duration: Duration) {
        let target = self.clock.now().saturating_add(duration);
        loop {
            self.settle().await;
            let Ok(shard) = self.dex.core().shard_or_wait().await else { return };
            let next = shard.timers.next();
            if next > target {
                break;
            }
            self.clock.set(next);
            // The engine's own timer task does the same; whoever is first does it.
            let _ = shard.tick().await;
        }
        self.clock.set(target);
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
