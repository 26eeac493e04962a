//! Rows 43 to 49: attempts that fail, take too long, say when to come back, or leave word for the next.

use dex::prelude::*;
use dex::{Closing, Failure, FailureKind, Status};

use crate::support::{Counter, IN_MEMORY, Way, each_way, engine, seconds};

/// How the run ended, if a step's failure ended it.
fn failure<F: Flow>(result: &dex::RunResult<F>) -> &Failure {
    match result.closing() {
        Closing::StepFailed { failure, .. } => failure,
        other => panic!("it ended with {other:?}"),
    }
}

/// Its wait, or its step, hangs.
struct Hangs;

#[flow(output = ())]
impl Hangs {
    #[step(start)]
    async fn begin(&self, in_wait: bool) -> StepResult<Self> {
        Ok(if in_wait { Next::to(Self::WAITS, ()) } else { Next::to(Self::WORKS, ()) })
    }

    #[wait_for(waits)]
    async fn never(&self) -> WaitResult<Self, ()> {
        std::future::pending().await
    }

    #[step(retry(attempts = 1), timeout = "1s")]
    async fn waits(&self, _input: (), _outcome: ()) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(retry(attempts = 1), timeout = "1s")]
    async fn works(&self) -> StepResult<Self> {
        std::future::pending().await
    }
}

/// Starts a run that hangs, and lets its second pass.
async fn timed_out(in_wait: bool) {
    each_way(
        IN_MEMORY,
        || Hangs,
        async |t| {
            t.client().start("r", in_wait).await.unwrap();
            t.phase().await;
            t.advance(seconds(1)).await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!(failure(&result).kind, FailureKind::Timeout);
            assert!(failure(&result).message.contains("timeout"), "{result:?}");
            assert!(result.outputs().unwrap().is_empty());
        },
    )
    .await;
}

/// Row 43
#[tokio::test]
async fn a_wait_that_takes_too_long_fails_the_run_as_a_timeout() {
    timed_out(true).await;
}

/// Row 78
#[tokio::test]
async fn a_step_that_takes_too_long_fails_the_run_as_a_timeout() {
    timed_out(false).await;
}

/// Adds one in each of two steps, whose methods look at the number of their attempt.
struct Attempts;

#[flow(output = u32)]
impl Attempts {
    #[wait_for(first)]
    fn of_first(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, u32> {
        Ok(Wait::ready(ctx.attempt()))
    }

    #[step(start)]
    async fn first(&self, ctx: &mut StepContext<Self>, number: u32, waited: u32) -> StepResult<Self> {
        if (waited, ctx.attempt()) != (1, 1) {
            return Ok(Next::fail("not the first attempt"));
        }
        Ok(Next::to(Self::SECOND, number + 1))
    }

    #[wait_for(second)]
    fn of_second(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, u32> {
        Ok(Wait::ready(ctx.attempt()))
    }

    #[step]
    async fn second(&self, ctx: &mut StepContext<Self>, number: u32, waited: u32) -> StepResult<Self> {
        if (waited, ctx.attempt()) != (1, 1) {
            return Ok(Next::fail("not the first attempt"));
        }
        Ok(Next::complete(number + 1))
    }
}

/// Row 44
#[tokio::test]
async fn attempts_are_counted_from_one_for_each_method() {
    each_way(
        IN_MEMORY,
        || Attempts,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 3);
        },
    )
    .await;
}

/// The first attempt of its wait, or of its step, says when to come back.
struct Hints;

#[flow(output = u32)]
impl Hints {
    #[step(start)]
    async fn begin(&self, in_wait: bool) -> StepResult<Self> {
        Ok(Next::to(Self::BUSY, in_wait))
    }

    #[wait_for(busy)]
    fn perhaps(&self, ctx: &WaitContext<Self>, in_wait: &bool) -> WaitResult<Self, ()> {
        if *in_wait && ctx.attempt() == 1 {
            return Err(StepError::retry_after(seconds(2), "the wait is busy"));
        }
        Ok(Wait::ready(()))
    }

    #[step(retry(initial = "10s", attempts = 3))]
    async fn busy(&self, ctx: &mut StepContext<Self>, in_wait: bool, _outcome: ()) -> StepResult<Self> {
        if !in_wait && ctx.attempt() == 1 {
            return Err(StepError::retry_after(seconds(2), "the step is busy"));
        }
        Ok(Next::complete(ctx.attempt()))
    }
}

/// The failure shows while the run is open, and the run goes on after the two seconds of the hint.
async fn hinted(in_wait: bool, text: &str) {
    each_way(
        IN_MEMORY,
        || Hints,
        async |t| {
            let start = t.now();
            t.client().start("r", in_wait).await.unwrap();
            t.phase().await;
            let info = t.run().await.describe().await.unwrap();
            let step = &info.steps[0];
            let last = step.last_failure.as_ref().unwrap();
            assert_eq!((info.status, step.failures, last.message.as_str()), (Status::Running, 1, text));
            assert!(last.place.as_ref().unwrap().contains("attempts.rs:"), "{last:?}");
            t.advance(seconds(2)).await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), if in_wait { 1 } else { 2 }, "{:?}", t.way);
            let closed = run.describe().await.unwrap().closed.unwrap();
            assert_eq!(closed.at.since(start), seconds(2));
        },
    )
    .await;
}

/// Row 45
#[tokio::test]
async fn a_wait_says_when_its_next_attempt_is_to_come() {
    hinted(true, "the wait is busy").await;
}

/// Row 46
#[tokio::test]
async fn a_step_says_when_its_next_attempt_is_to_come() {
    hinted(false, "the step is busy").await;
}

#[derive(Debug, thiserror::Error)]
#[error("no line is free")]
struct NoLine;

/// Its errors are made, or met, in a function of their own.
struct Places;

fn dial() -> Result<(), StepError> {
    Err(StepError::new("the number is busy")) // made here
}

fn connect() -> Result<(), NoLine> {
    Err(NoLine)
}

#[flow(output = ())]
impl Places {
    #[step(start)]
    async fn begin(&self, typed: bool) -> StepResult<Self> {
        Ok(if typed { Next::to(Self::MEETS, ()) } else { Next::to(Self::MAKES, ()) })
    }

    #[wait_for(makes)]
    fn dials(&self) -> WaitResult<Self, ()> {
        dial()?;
        Ok(Wait::ready(()))
    }

    #[step(retry(attempts = 1))]
    async fn makes(&self, _input: (), _outcome: ()) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(retry(attempts = 1))]
    async fn meets(&self) -> StepResult<Self> {
        connect()?; // met here
        Ok(Next::complete(()))
    }
}

/// The place of the line of this file that ends with `mark`.
fn place(mark: &str) -> String {
    let line = include_str!("attempts.rs").lines().position(|line| line.ends_with(mark)).unwrap();
    format!("attempts.rs:{}:", line + 1)
}

/// Row 47
// An error keeps one place, not a stack: where it was made, or where a step met one of another type with `?`.
#[tokio::test]
async fn an_error_keeps_the_place_where_it_was_made_or_met() {
    for (typed, place) in [(false, place("// made here")), (true, place("// met here"))] {
        each_way(
            IN_MEMORY,
            || Places,
            async |t| {
                t.client().start("r", typed).await.unwrap();
                t.phase().await;
                let result = t.run().await.result().await.unwrap();
                let found = failure(&result).place.clone().unwrap();
                assert!(found.contains(&place), "{found} is not {place}");
            },
        )
        .await;
    }
}

/// Two steps whose attempts look at what the one before them wrote down.
struct Checkpoints;

#[flow(output = String)]
impl Checkpoints {
    #[step(start, retry(attempts = 4, initial = "1s"), heartbeat = "10s")]
    async fn first(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let before = ctx.last_checkpoint::<Option<String>>()?;
        match (ctx.attempt(), before) {
            (1, None) => ctx.checkpoint(&Some(String::from("checkpoint")))?,
            (2, Some(Some(text))) if text == "checkpoint" => ctx.heartbeat(),
            (3, Some(Some(text))) if text == "checkpoint" => ctx.checkpoint(&None::<String>)?,
            (4, Some(None)) => return Ok(Next::to(Self::SECOND, ())),
            (attempt, before) => return Ok(Next::fail(format!("attempt {attempt} sees {before:?}"))),
        }
        Err(StepError::new("not yet"))
    }

    #[step(retry(attempts = 4, initial = "1s"), heartbeat = "10s", durability = async)]
    async fn second(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let before = ctx.last_checkpoint::<u32>()?.unwrap_or_default();
        let attempt = ctx.attempt();
        if before + 1 != attempt {
            return Ok(Next::fail(format!("attempt {attempt} sees {before}")));
        }
        if attempt < 4 {
            ctx.checkpoint(&attempt)?;
            return Err(StepError::new("not yet"));
        }
        Ok(Next::complete("heartbeat-ok".into()))
    }
}

/// Row 48
// A sign of life without a checkpoint leaves the last one as it is; a checkpoint of nothing is one. A crash right after a
// checkpoint ends its attempt before it fails, so not with a crash after every transition.
#[tokio::test]
async fn each_attempt_sees_what_the_one_before_it_wrote_down() {
    each_way(
        &[Way::Straight, Way::Restarted, Way::OnDisk, Way::Closed],
        || Checkpoints,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            for _ in 0..7 {
                t.phase().await;
                t.advance(seconds(9)).await;
            }
            assert_eq!(t.run().await.output().await.unwrap(), "heartbeat-ok", "{:?}", t.way);
        },
    )
    .await;
}

/// Gives no sign of life, and is recovered.
#[derive(Default)]
struct Silent {
    called: Counter,
}

#[flow(output = String)]
impl Silent {
    #[step(start, timeout = "20s", heartbeat = "10s", retry(attempts = 1), on_failure = recover)]
    async fn hang(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        self.called.add();
        std::future::pending::<()>().await;
        ctx.heartbeat();
        Ok(Next::dead_end())
    }

    #[step]
    async fn recover(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        Ok(Next::complete(format!("{:?}", ctx.recovery().map(|recovery| recovery.failure.kind))))
    }
}

/// Row 49
#[tokio::test]
async fn a_step_without_a_sign_of_life_is_recovered_before_its_timeout() {
    each_way(IN_MEMORY, Silent::default, async |t| {
        let start = t.now();
        t.client().start("r", ()).await.unwrap();
        t.settle().await;
        t.advance(seconds(10)).await;
        let run = t.run().await;
        assert_eq!(run.output().await.unwrap(), "Some(HeartbeatTimeout)");
        assert_eq!(run.describe().await.unwrap().closed.unwrap().at.since(start), seconds(10));
    })
    .await;
    let t = engine(Silent::default()).await;
    let run = t.client::<Silent>().start("r", ()).await.unwrap();
    t.advance(seconds(10)).await;
    run.output().await.unwrap();
    assert_eq!(t.flow::<Silent>().called.get(), 1, "there is one attempt");
}
