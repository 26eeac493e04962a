//! Lost or duplicate execution; who owns a run after a restart.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use dex::prelude::*;
use dex::testing;
use dex::{Closing, Dex, FailureKind, Status};
use tokio::sync::watch;

use crate::support::{Counter, engine, hours, seconds};

/// Counts its runs.
#[derive(Default)]
struct Once {
    calls: Counter,
}

#[flow(output = ())]
impl Once {
    #[step(start)]
    async fn only(&self, _input: ()) -> StepResult<Self> {
        self.calls.add();
        Ok(Next::complete(()))
    }
}

/// A1
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn runs_that_start_in_the_instant_of_an_opening_run_once() {
    let t = engine(Once::default()).await;
    let flow = t.flow::<Once>();
    for opening in 1..=30 {
        t.restart().await.unwrap();
        let starts: Vec<_> = (0..50)
            .map(|number| {
                let client = t.client::<Once>();
                tokio::spawn(async move { client.start(format!("{opening}-{number}"), ()).await.unwrap() })
            })
            .collect();
        for start in starts {
            start.await.unwrap().output().await.unwrap();
        }
        t.settle().await;
        // The clock stands still, so every start has the time of the opening.
        assert_eq!(flow.calls.get(), opening * 50);
    }
}

/// Its first call keeps its thread until it is let go, whatever became of its run; later calls end at once.
struct Outlives {
    calls: Counter,
    ended: Counter,
    gate: Arc<Barrier>,
    /// What later calls give.
    later: Result<&'static str, &'static str>,
}

impl Outlives {
    fn new(later: Result<&'static str, &'static str>) -> Self {
        let gate = Arc::new(Barrier::new(2));
        Self { calls: Counter::default(), ended: Counter::default(), gate, later }
    }

    /// Lets the first call go and waits until it has ended.
    async fn let_go(&self) {
        let gate = Arc::clone(&self.gate);
        tokio::task::spawn_blocking(move || gate.wait()).await.unwrap();
        while self.ended.get() == 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[flow(output = String)]
impl Outlives {
    #[attribute]
    const WRITTEN: Attribute<String>;

    // Long enough for the second call on a machine that is busy.
    #[step(start, timeout = "300ms", retry(attempts = 2, initial = "1ms", max_interval = "1ms"))]
    fn work(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        if self.calls.add() > 1 {
            let given = self.later.map_err(StepError::fatal)?;
            ctx.set(Self::WRITTEN, given.into())?;
            return Ok(Next::complete(given.into()));
        }
        self.gate.wait();
        ctx.set(Self::WRITTEN, "late".into())?;
        self.ended.add();
        Ok(Next::complete("late".into()))
    }
}

/// A5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_outlives_its_engine_changes_nothing() {
    let t = engine(Outlives::new(Ok("in time"))).await;
    let flow = t.flow::<Outlives>();
    let run = t.client::<Outlives>().start("r", ()).await.unwrap();
    while flow.calls.get() == 0 {
        tokio::task::yield_now().await;
    }
    t.restart().await.unwrap();
    assert_eq!(run.output().await.unwrap(), "in time");
    let transitions = run.describe().await.unwrap().transitions;
    flow.let_go().await;
    t.settle().await;
    assert_eq!(run.output().await.unwrap(), "in time");
    assert_eq!(run.get(Outlives::WRITTEN).await.unwrap().unwrap(), "in time");
    assert_eq!(run.describe().await.unwrap().transitions, transitions);
    assert_eq!(flow.calls.get(), 2);
}

/// A6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_comes_after_its_timeout_does_not_bring_a_failed_run_back() {
    let folder = tempfile::tempdir().unwrap();
    let dex = Dex::open(folder.path()).flow(Outlives::new(Err("for good"))).start().await.unwrap();
    let flow = dex.flow::<Outlives>().unwrap();
    let run = dex.client::<Outlives>().start("r", ()).await.unwrap();
    let result = run.result().await.unwrap();
    match result.closing() {
        Closing::StepFailed { failure, .. } => {
            assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Fatal, "for good"));
        }
        other => panic!("the run ended with {other:?}"),
    }
    flow.let_go().await;
    let info = run.describe().await.unwrap();
    assert_eq!((info.status, info.steps.len()), (Status::Failed, 0));
    assert_eq!(run.get(Outlives::WRITTEN).await.unwrap(), None);
    assert_eq!(flow.calls.get(), 2);
    dex.shutdown(seconds(5)).await.unwrap();
}

/// Fails once it is let go.
struct FailsTogether {
    calls: Counter,
    go: watch::Sender<bool>,
}

#[flow(output = (), endless)]
impl FailsTogether {
    #[step(start, retry(attempts = 2, initial = "1h", max_interval = "1h"))]
    async fn only(&self, _input: ()) -> StepResult<Self> {
        self.calls.add();
        let _ = self.go.subscribe().wait_for(|go| *go).await;
        Err(StepError::new("at the same time as all others"))
    }
}

fn fails_together(go: bool) -> FailsTogether {
    FailsTogether { calls: Counter::default(), go: watch::Sender::new(go) }
}

/// A13
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_steps_that_fail_during_a_shutdown_have_one_next_attempt_each() {
    let t = engine(fails_together(false)).await;
    let flow = t.flow::<FailsTogether>();
    for number in 0..100 {
        t.client::<FailsTogether>().start(format!("r{number}"), ()).await.unwrap();
    }
    while flow.calls.get() < 100 {
        tokio::task::yield_now().await;
    }
    let shutdown = tokio::spawn({
        let t = t.clone();
        // The clock stands still: all that ends the wait is the end of the handlers.
        async move { t.shutdown(Duration::from_secs(5)).await }
    });
    flow.go.send_replace(true);
    shutdown.await.unwrap().unwrap();
    assert_eq!(flow.calls.get(), 100);

    let next = testing::engine_on(t.store().reopen()).flow(fails_together(true)).start().await.unwrap();
    next.settle().await;
    let calls_before = next.flow::<FailsTogether>().calls.get();
    assert_eq!(calls_before, 0, "an attempt that had ended was made again");
    next.advance(hours(2)).await;
    assert_eq!(next.flow::<FailsTogether>().calls.get(), 100);
    for number in 0..100 {
        let run = next.client::<FailsTogether>().run(format!("r{number}")).await.unwrap();
        assert_eq!(run.describe().await.unwrap().status, Status::Failed, "r{number}");
    }
}
