//! Failed attempts: when the next one comes, when it is given up, and that a failed one leaves no trace.
#![cfg(test)]

mod support;

use std::time::Duration;

use dex::prelude::*;
use dex::testing::TestEngine;
use dex::{Closing, ErrorKind, Failure, FailureKind, Timestamp};
use support::{ALL, Counter, IN_MEMORY, each_way, engine, hours, seconds};

/// Its steps fail in various ways; the input names the step.
struct Failing {
    attempts: Counter,
}

fn failing() -> Failing {
    Failing { attempts: Counter::default() }
}

#[derive(Debug, thiserror::Error)]
#[error("the outer part")]
struct Outer(#[source] std::fmt::Error);

#[flow(output = String)]
impl Failing {
    #[attribute]
    const TRACE: Attribute<String>;
    #[channel]
    const MESSAGES: Channel<String>;

    #[step(start)]
    async fn begin(&self, step: String) -> StepResult<Self> {
        Ok(match step.as_str() {
            "doubling" => Next::to(Self::DOUBLING, ()),
            "three" => Next::to(Self::THREE, ()),
            "ten_seconds" => Next::to(Self::TEN_SECONDS, ()),
            "fatal" => Next::to(Self::FATAL, ()),
            "hint" => Next::to(Self::HINT, ()),
            "panics" => Next::to(Self::PANICS, ()),
            "panics_blocking" => Next::to(Self::PANICS_BLOCKING, ()),
            "hangs" => Next::to(Self::HANGS, ()),
            "trace" => Next::to(Self::TRACES, ()),
            "typed" => Next::to(Self::TYPED, ()),
            _ => Next::to(Self::BAD_WAIT, ()),
        })
    }

    #[step]
    async fn doubling(&self, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        Err(StepError::new("not yet"))
    }

    #[step(retry(initial = "1s", factor = 3.0, max_interval = "5s", attempts = 3))]
    async fn three(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        Err(StepError::new(format!("attempt {}", ctx.attempt())))
    }

    #[step(retry(total = "10s"))]
    async fn ten_seconds(&self, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        Err(StepError::new("never"))
    }

    #[step]
    async fn fatal(&self, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        Err(StepError::fatal("the card is stolen"))
    }

    #[step]
    async fn hint(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        if ctx.attempt() == 1 {
            return Err(StepError::retry_after(seconds(77), "busy"));
        }
        Ok(Next::complete("done".into()))
    }

    #[step(retry(attempts = 1))]
    async fn panics(&self, _input: ()) -> StepResult<Self> {
        panic!("a step panics on {}", "purpose")
    }

    #[step(retry(attempts = 1))]
    fn panics_blocking(&self, _input: ()) -> StepResult<Self> {
        panic!("a blocking step panics on purpose")
    }

    #[step(timeout = "30s", retry(attempts = 2, initial = "1s"))]
    async fn hangs(&self, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        std::future::pending().await
    }

    #[step(retry(attempts = 2))]
    async fn traces(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        if ctx.get(Self::TRACE)?.is_some() {
            return Ok(Next::fail("the attempt before left a trace"));
        }
        ctx.set(Self::TRACE, "written".into())?;
        ctx.publish(Self::MESSAGES, "published".into())?;
        if ctx.attempt() == 1 {
            return Err(StepError::new("after the writes"));
        }
        Ok(Next::complete("done".into()))
    }

    #[step(retry(attempts = 1))]
    async fn typed(&self, _input: ()) -> StepResult<Self> {
        Err(Outer(std::fmt::Error).into())
    }

    #[wait_for(bad_wait)]
    fn fails_once(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, String> {
        if ctx.get(Self::TRACE)?.is_some() {
            return Err(StepError::fatal("the attempt before left a trace"));
        }
        ctx.set(Self::TRACE, "written".into())?;
        ctx.publish(Self::MESSAGES, "to itself".into())?;
        if ctx.attempt() == 1 {
            return Err(StepError::new("after the writes"));
        }
        Ok(Wait::one(Self::MESSAGES.one()))
    }

    #[step]
    async fn bad_wait(&self, ctx: &mut StepContext<Self>, _input: (), got: String) -> StepResult<Self> {
        Ok(Next::complete(format!("{got} at attempt {}", ctx.attempt())))
    }
}

/// Runs the step and gives how it failed the run.
async fn failure_of(t: &TestEngine, step: &str) -> Failure {
    let run = t.client::<Failing>().start(step, step.into()).await.unwrap();
    t.advance(hours(10)).await;
    match run.result().await.unwrap().closing() {
        Closing::StepFailed { failure, .. } => failure.clone(),
        other => panic!("{step} ended with {other:?}"),
    }
}

/// The instants at which the attempts of the run `id` come due, until it has none.
async fn pauses(t: &TestEngine, id: &str, most: usize) -> Vec<Duration> {
    let run = t.client::<Failing>().run(id).await.unwrap();
    let mut pauses = Vec::new();
    let mut failed_at: Timestamp = t.now();
    t.settle().await;
    while pauses.len() < most {
        let info = run.describe().await.unwrap();
        let Some(due) = info.steps.first().and_then(|step| step.due) else { break };
        pauses.push(due.since(failed_at));
        t.advance(due.since(t.now())).await;
        failed_at = due;
    }
    pauses
}

fn within_a_tenth(pause: Duration, of: u64) -> bool {
    let of = seconds(of);
    pause >= of.mul_f64(0.9) && pause <= of.mul_f64(1.1)
}

#[tokio::test]
async fn pauses_double_from_a_second_to_a_hundred() {
    let t = engine(failing()).await;
    t.client::<Failing>().start("r", "doubling".into()).await.unwrap();
    let pauses = pauses(&t, "r", 9).await;
    for (pause, expected) in pauses.iter().zip([1, 2, 4, 8, 16, 32, 64, 100, 100]) {
        assert!(within_a_tenth(*pause, expected), "{pause:?} is not {expected} s");
        assert_eq!(pause.subsec_nanos() % 1_000_000, 0, "{pause:?} is not to the millisecond");
    }
    assert_eq!(t.flow::<Failing>().attempts.get(), 10);
}

#[tokio::test]
async fn the_default_policy_gives_up_after_four_hours() {
    let t = engine(failing()).await;
    let run = t.client::<Failing>().start("r", "doubling".into()).await.unwrap();
    t.advance(hours(3)).await;
    assert!(!run.describe().await.unwrap().status.is_closed());
    t.advance(hours(2)).await;
    let info = run.describe().await.unwrap();
    let open = info.closed.unwrap().at.since(info.started_at);
    assert!(open <= hours(4) && open > hours(3), "{open:?}");
}

#[tokio::test]
async fn a_policy_of_ones_own_sets_pauses_and_attempts() {
    let t = engine(failing()).await;
    let run = t.client::<Failing>().start("r", "three".into()).await.unwrap();
    let pauses = pauses(&t, "r", 9).await;
    assert_eq!(pauses.len(), 2);
    assert!(within_a_tenth(pauses[0], 1) && within_a_tenth(pauses[1], 3), "{pauses:?}");
    let error = run.output().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::RunFailed);
    assert!(error.to_string().contains("three-1") && error.to_string().contains("attempt 3"), "{error}");
}

#[tokio::test]
async fn the_limit_of_attempts_holds_across_restarts() {
    let attempts = Counter::default();
    for way in ALL {
        let before = attempts.get();
        each_way(
            &[*way],
            || Failing { attempts: attempts.clone() },
            async |t| {
                t.client().start("r", "three".into()).await.unwrap();
                for _ in 0..4 {
                    t.phase().await;
                    t.advance(seconds(6)).await;
                }
                let result = t.run().await.result().await.unwrap();
                assert!(matches!(result.closing(), Closing::StepFailed { .. }), "{way:?}");
            },
        )
        .await;
        assert_eq!(attempts.get() - before, 3, "{way:?}");
    }
}

#[tokio::test]
async fn no_attempt_starts_after_the_total_time() {
    let t = engine(failing()).await;
    let failure = failure_of(&t, "ten_seconds").await;
    assert_eq!(failure.message, "never");
    // At 0, 1, 3 and 7 seconds, give or take a tenth; the next would come at 15.
    assert_eq!(t.flow::<Failing>().attempts.get(), 4);
}

#[tokio::test]
async fn a_fatal_error_is_not_tried_again() {
    let t = engine(failing()).await;
    let failure = failure_of(&t, "fatal").await;
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Fatal, "the card is stolen"));
    assert_eq!(t.flow::<Failing>().attempts.get(), 1);
}

#[tokio::test]
async fn a_handler_sets_its_own_next_pause() {
    each_way(IN_MEMORY, failing, async |t| {
        t.client().start("r", "hint".into()).await.unwrap();
        t.phase().await;
        let due = t.run().await.describe().await.unwrap().steps[0].due.unwrap();
        assert_eq!(due.since(t.now()), seconds(77));
        t.advance(seconds(77)).await;
        assert_eq!(t.run().await.output().await.unwrap(), "done");
    })
    .await;
}

#[tokio::test]
async fn a_panic_is_a_failed_attempt_with_text_and_place() {
    let t = engine(failing()).await;
    for (step, text) in
        [("panics", "a step panics on purpose"), ("panics_blocking", "a blocking step panics on purpose")]
    {
        let failure = failure_of(&t, step).await;
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Panic, text));
        assert!(failure.place.as_ref().unwrap().contains("retry.rs"), "{failure:?}");
    }
}

#[tokio::test]
async fn an_attempt_that_takes_longer_than_its_timeout_has_failed() {
    let t = engine(failing()).await;
    let run = t.client::<Failing>().start("r", "hangs".into()).await.unwrap();
    t.advance(seconds(29)).await;
    assert_eq!(t.flow::<Failing>().attempts.get(), 1);
    assert_eq!(run.describe().await.unwrap().steps[0].failures, 0);
    t.advance(seconds(1)).await;
    let info = run.describe().await.unwrap();
    assert_eq!(info.steps[0].failures, 1);
    assert_eq!(info.steps[0].last_failure.as_ref().unwrap().kind, FailureKind::Timeout);
    t.advance(seconds(40)).await;
    assert_eq!(t.flow::<Failing>().attempts.get(), 2);
    let error = run.output().await.err().unwrap();
    assert!(error.to_string().contains("30s"), "{error}");
}

#[tokio::test]
async fn a_failed_attempt_of_a_step_leaves_no_trace() {
    each_way(ALL, failing, async |t| {
        t.client().start("r", "trace".into()).await.unwrap();
        t.phase().await;
        let info = t.run().await.describe().await.unwrap();
        assert!(info.channels.is_empty(), "{:?}: {info:?}", t.way);
        t.advance(seconds(2)).await;
        let result = t.run().await.result().await.unwrap();
        assert_eq!(result.output().unwrap(), "done");
        assert_eq!(result.unconsumed_messages(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_failed_attempt_of_a_wait_leaves_no_trace_and_is_not_counted_for_the_step() {
    each_way(ALL, failing, async |t| {
        t.client().start("r", "bad_wait".into()).await.unwrap();
        t.phase().await;
        t.advance(seconds(2)).await;
        assert_eq!(t.run().await.output().await.unwrap(), "to itself at attempt 1");
    })
    .await;
}

#[tokio::test]
async fn an_error_keeps_type_text_and_causes() {
    let t = engine(failing()).await;
    let failure = failure_of(&t, "typed").await;
    assert!(failure.type_name.ends_with("Outer"), "{failure:?}");
    assert_eq!(failure.message, "the outer part");
    assert_eq!(failure.chain, [std::fmt::Error.to_string()]);
}

#[tokio::test]
async fn a_run_that_retries_says_how_it_failed_and_when_it_goes_on() {
    let t = engine(failing()).await;
    let run = t.client::<Failing>().start("r", "hint".into()).await.unwrap();
    t.settle().await;
    let explained = run.describe().await.unwrap().explain();
    assert!(explained.contains("hint-1 failed 1 time"), "{explained}");
    assert!(explained.contains("busy") && explained.contains("2030-01-01T00:01:17"), "{explained}");
}
