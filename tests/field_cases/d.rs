//! Retries and their pauses.

use std::time::Duration;

use dex::prelude::*;
use dex::testing::{self, TestEngine};
use dex::{Options, Status};
use dex_runtime::store::Store;

use crate::support::{Counter, IN_MEMORY, each_way, engine, hours, seconds};

/// Fails in every attempt.
#[derive(Default)]
struct Fails {
    attempts: Counter,
}

#[flow(output = (), endless)]
impl Fails {
    #[step(start)]
    async fn begin(&self, step: String) -> StepResult<Self> {
        Ok(match step.as_str() {
            "century" => Next::to(Self::CENTURY, ()),
            "limited" => Next::to(Self::LIMITED, ()),
            _ => Next::to(Self::DEFAULTS, ()),
        })
    }

    #[step(retry(attempts = 200, max_interval = "36500d", total = "36500d"))]
    async fn century(&self, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        Err(StepError::new("again"))
    }

    #[step(retry(attempts = 3))]
    async fn limited(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        Err(StepError::new(format!("attempt {}", ctx.attempt())))
    }

    #[step]
    async fn defaults(&self, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        Err(StepError::new("x".repeat(1024 * 1024)))
    }
}

/// The pauses after the failures of the only run, at most `most`.
async fn pauses(t: &TestEngine, most: usize) -> Vec<Duration> {
    let run = t.client::<Fails>().run("r").await.unwrap();
    let mut pauses = Vec::new();
    t.settle().await;
    while pauses.len() < most {
        let info = run.describe().await.unwrap();
        let Some(due) = info.steps.first().and_then(|step| step.due) else { break };
        pauses.push(due.since(t.now()));
        t.advance(due.since(t.now())).await;
    }
    pauses
}

/// D1
#[tokio::test]
async fn pauses_that_grow_for_a_century_never_shrink_and_are_never_nothing() {
    let t = engine(Fails::default()).await;
    let run = t.client::<Fails>().start("r", "century".into()).await.unwrap();
    let pauses = pauses(&t, 200).await;
    assert!(pauses.len() > 25, "{pauses:?}");
    assert!(pauses[0] >= Duration::from_millis(900), "{pauses:?}");
    assert!(pauses.is_sorted(), "{pauses:?}");
    assert_eq!(run.describe().await.unwrap().status, Status::Failed);
    assert_eq!(t.flow::<Fails>().attempts.get(), pauses.len() + 1);
}

/// D3
#[tokio::test]
async fn the_pauses_in_the_documentation_are_those_of_the_engine() {
    let page = include_str!("../../src/docs/step.md");
    let line = page.lines().find(|line| line.starts_with("| pause, in seconds |")).unwrap();
    let told: Vec<u64> = line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
    assert_eq!(told.len(), 10, "{line}");
    let t = engine(Fails::default()).await;
    t.client::<Fails>().start("r", "defaults".into()).await.unwrap();
    for (pause, told) in pauses(&t, told.len()).await.into_iter().zip(told) {
        let told = seconds(told);
        assert!(pause >= told.mul_f64(0.9) && pause <= told.mul_f64(1.1), "{pause:?} is not {told:?}");
    }
}

/// D4
#[tokio::test]
async fn the_last_attempt_is_the_last_one() {
    let attempts = Counter::default();
    for way in IN_MEMORY {
        let before = attempts.get();
        let flow = || Fails { attempts: attempts.clone() };
        each_way(&[*way], flow, async |t| {
            t.client().start("r", "limited".into()).await.unwrap();
            t.advance(seconds(2)).await;
            t.phase().await;
            t.advance(hours(1)).await;
            t.phase().await;
            t.advance(hours(100)).await;
            let error = t.run().await.output().await.err().unwrap();
            assert!(error.to_string().contains("attempt 3"), "{error}");
        })
        .await;
        assert_eq!(attempts.get() - before, 3, "{way:?}");
    }
}

/// D5
#[tokio::test]
async fn a_step_that_always_fails_makes_few_attempts_of_few_bytes() {
    let t = engine(Fails::default()).await;
    let run = t.client::<Fails>().start("r", "defaults".into()).await.unwrap();
    t.advance(seconds(10)).await;
    // At 0, 1, 3 and 7 seconds.
    assert_eq!(t.flow::<Fails>().attempts.get(), 4);
    let bytes = |t: &TestEngine| -> usize {
        let history = t.store().history(run.run_id(), 1, usize::MAX).unwrap();
        history.iter().map(|stored| stored.record.len()).sum()
    };
    let (bytes_before, attempts_before) = (bytes(&t), t.flow::<Fails>().attempts.get());
    t.advance(hours(3)).await;
    let attempts = t.flow::<Fails>().attempts.get() - attempts_before;
    assert!(attempts > 90 && attempts < 130, "{attempts}");
    // The error's text has a mebibyte, of which 4 KiB are kept.
    let each = (bytes(&t) - bytes_before) / attempts;
    assert!(each < 5 * 1024, "{each} bytes an attempt");
    // What is read back holds the last failure, not all of them.
    let stored = t.store().load(run.run_id()).unwrap().unwrap();
    let records: usize = stored.records.iter().map(|stored| stored.record.len()).sum();
    let snapshot = stored.snapshot.map_or(0, |(_, bytes)| bytes.len());
    assert!(snapshot < 10 * 1024, "a snapshot of {snapshot} bytes");
    assert!(records < 128 * 1024, "{records} bytes since the last snapshot");
}

/// Fails first, and is quick otherwise.
struct Slow;

#[flow(output = ())]
impl Slow {
    #[step(start, retry(initial = "10s"))]
    async fn only(&self, ctx: &mut StepContext<Self>, fails: bool) -> StepResult<Self> {
        if fails && ctx.attempt() == 1 {
            return Err(StepError::new("not yet"));
        }
        Ok(Next::complete(()))
    }
}

/// D7
#[tokio::test]
async fn a_pause_holds_no_slot() {
    let options = Options { worker_slots: 1, ..Options::default() };
    let t = testing::engine().options(options).flow(Slow).start().await.unwrap();
    let first = t.client::<Slow>().start("first", true).await.unwrap();
    t.settle().await;
    let second = t.client::<Slow>().start("second", false).await.unwrap();
    second.output().await.unwrap();
    assert_eq!(first.describe().await.unwrap().steps[0].failures, 1);
    t.advance(seconds(11)).await;
    first.output().await.unwrap();
}

/// Hands on values in which there is nothing.
struct Empty;

#[flow(output = Option<Vec<String>>)]
impl Empty {
    #[attribute]
    const TEXT: Attribute<String>;
    #[attribute]
    const CHOICE: Attribute<Option<u32>>;
    #[channel]
    const TEXTS: Channel<String>;

    #[step(start)]
    async fn unit(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        ctx.set(Self::TEXT, String::new())?;
        ctx.set(Self::CHOICE, None)?;
        ctx.publish(Self::TEXTS, String::new())?;
        Ok(Next::to(Self::TEXT_IN, String::new()))
    }

    #[wait_for(text_in)]
    fn a_text(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::TEXTS.one()))
    }

    #[step]
    async fn text_in(&self, input: String, got: String) -> StepResult<Self> {
        assert!(input.is_empty() && got.is_empty());
        Ok(Next::to(Self::LIST, Vec::new()))
    }

    #[step]
    async fn list(&self, input: Vec<String>) -> StepResult<Self> {
        assert!(input.is_empty());
        Ok(Next::to(Self::NONE, None))
    }

    #[step]
    async fn none(&self, input: Option<u32>) -> StepResult<Self> {
        Ok(if input.is_none() { Next::complete(None) } else { Next::fail("something came") })
    }
}

/// D7
#[tokio::test]
async fn values_with_nothing_in_them_are_values() {
    each_way(
        IN_MEMORY,
        || Empty,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), None);
            assert_eq!(run.result().await.unwrap().outputs().unwrap().len(), 1);
            assert_eq!(run.get(Empty::TEXT).await.unwrap(), Some(String::new()));
            assert_eq!(run.get(Empty::CHOICE).await.unwrap(), Some(None), "set to none is set");
        },
    )
    .await;
}
