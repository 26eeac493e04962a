//! Temporary engines, and one scenario run in several ways that have to end alike.
// Each test program uses its own part of this.
#![allow(dead_code, reason = "every test program uses another part of what is here")]

pub(crate) mod hand;
pub(crate) mod page;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dex::testing::{self, TestBuilder, TestEngine};
use dex::{Client, Flow, Options};
use tempfile::TempDir;

/// How a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// In memory, straight on.
    Straight,
    /// In memory; the engine crashes after each single transition and opens its store again.
    Crashing,
    /// In memory; the engine crashes between the phases of the scenario.
    Restarted,
    /// On the store that applications use; the engine crashes between the phases.
    OnDisk,
    /// On the store that applications use, which is closed and opened between the phases.
    Closed,
}

/// Every way in memory: for each scenario.
pub(crate) const IN_MEMORY: &[Way] = &[Way::Straight, Way::Crashing, Way::Restarted];

/// Every way there is: for the scenarios that are worth the disk.
pub(crate) const ALL: &[Way] = &[Way::Straight, Way::Crashing, Way::Restarted, Way::OnDisk, Way::Closed];

/// Longest time, on the real clock, of a scenario in one way. None takes more than some seconds by itself; one
/// that waits for what never comes is a failure and not a hang.
const HANGS_AFTER: Duration = Duration::from_mins(2);

/// Adds what an engine has beside its one flow.
type Also<'a> = dyn Fn(TestBuilder) -> TestBuilder + 'a;

/// Where a scenario takes place: an engine with one flow, and perhaps others beside it.
pub(crate) struct World<'a, F> {
    pub(crate) way: Way,
    engine: TestEngine,
    folder: Option<TempDir>,
    flow: &'a dyn Fn() -> F,
    also: &'a Also<'a>,
    options: Options,
}

impl<'a, F: Flow> World<'a, F> {
    /// An engine of its own for `way`.
    pub(crate) async fn new(way: Way, flow: &'a dyn Fn() -> F, options: Options) -> Self {
        Self::with(way, flow, &nothing, options).await
    }

    /// As [`new`](Self::new), with what `also` adds to the engine.
    pub(crate) async fn with(
        way: Way,
        flow: &'a dyn Fn() -> F,
        also: &'a Also<'a>,
        options: Options,
    ) -> Self {
        let folder = matches!(way, Way::OnDisk | Way::Closed).then(|| TempDir::new().unwrap());
        let builder = match &folder {
            Some(folder) => testing::engine_in(folder.path()),
            None => testing::engine(),
        };
        let builder = if way == Way::Crashing { builder.crash_after_every_transition() } else { builder };
        let engine = started(also(builder), flow, &options).await;
        Self { way, engine, folder, flow, also, options }
    }

    /// Ends a phase of the scenario. What the engine has under way is done before; what follows meets an
    /// engine that was opened again, if the way says so.
    pub(crate) async fn phase(&mut self) {
        self.engine.settle().await;
        self.reopen().await;
        self.engine.settle().await;
    }

    /// As [`phase`](Self::phase), without waiting for anything.
    pub(crate) async fn reopen(&mut self) {
        match self.way {
            Way::Straight | Way::Crashing => {}
            Way::Restarted | Way::OnDisk => self.engine.restart().await.unwrap(),
            Way::Closed => {
                self.engine.shutdown(Duration::from_secs(1)).await.unwrap();
                let folder = self.folder.as_ref().unwrap().path();
                let builder = testing::engine_in(folder).now(self.engine.now());
                self.engine = started((self.also)(builder), self.flow, &self.options).await;
            }
        }
    }

    /// Starts and finds runs of the flow.
    pub(crate) fn client(&self) -> Client<F> {
        self.engine.client()
    }

    /// The run called `r`, as the engine that is open now knows it.
    pub(crate) async fn run(&self) -> F::Run {
        self.client().run("r").await.unwrap()
    }
}

async fn started<F: Flow>(builder: TestBuilder, flow: &dyn Fn() -> F, options: &Options) -> TestEngine {
    builder.flow(flow()).options(options.clone()).start().await.unwrap()
}

impl<F> Deref for World<'_, F> {
    type Target = TestEngine;

    fn deref(&self) -> &TestEngine {
        &self.engine
    }
}

fn nothing(builder: TestBuilder) -> TestBuilder {
    builder
}

/// Runs `scenario` in each of `ways`, on an engine of its own with a flow of its own.
pub(crate) async fn each_way<F: Flow>(
    ways: &[Way],
    flow: impl Fn() -> F,
    scenario: impl AsyncFn(&mut World<'_, F>),
) {
    each_way_beside(ways, flow, nothing, scenario).await;
}

/// As [`each_way`], on engines that have what `also` adds, too: other flows.
pub(crate) async fn each_way_beside<F: Flow>(
    ways: &[Way],
    flow: impl Fn() -> F,
    also: impl Fn(TestBuilder) -> TestBuilder,
    scenario: impl AsyncFn(&mut World<'_, F>),
) {
    for way in ways {
        let mut world = World::with(*way, &flow, &also, Options::default()).await;
        let ended = tokio::time::timeout(HANGS_AFTER, scenario(&mut world)).await;
        assert!(ended.is_ok(), "{way:?}: something that was waited for does not come");
        world.shutdown(Duration::ZERO).await.unwrap();
    }
}

/// An engine in memory with one flow.
pub(crate) async fn engine<F: Flow>(flow: F) -> TestEngine {
    testing::engine().flow(flow).start().await.unwrap()
}

/// Counts something that flows do. All clones are the same counter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter(Arc<AtomicUsize>);

impl Counter {
    /// Counts one more, and gives how many there are with it.
    pub(crate) fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A length in seconds.
pub(crate) const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A length in hours.
pub(crate) const fn hours(count: u64) -> Duration {
    Duration::from_secs(count * 3600)
}
