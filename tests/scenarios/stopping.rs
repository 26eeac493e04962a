//! Rows 64 to 79: steps that end others, limits of time, and the ways in which a run does not complete.

use std::time::Duration;

use dex::prelude::*;
use dex::{Closing, ErrorKind, FailureKind, Status, TimeoutPolicy};

use crate::support::{Counter, IN_MEMORY, Way, each_way, each_way_beside, seconds};

/// Of two branches the second ends the first, which is in the middle of something; the input says of what.
#[derive(Clone, Default)]
struct Race {
    called: Counter,
    ended: Counter,
    ran_after_wait: Counter,
    recovered: Counter,
}

/// What the first branch does, by the name of its step.
const BEATS: &str = "beats";
const WAITS: &str = "waits";
const QUICK: &str = "quick";
const QUICK_BEATS: &str = "quick_beats";
const SILENT: &str = "silent";

#[flow(output = String)]
impl Race {
    #[attribute]
    const LATE: Attribute<bool>;
    #[channel]
    const GO: Channel<()>;
    #[channel]
    const FINISH: Channel<()>;

    #[step(start)]
    async fn begin(&self, step: String) -> StepResult<Self> {
        Ok(match step.as_str() {
            BEATS => Next::to(Self::BEATS, ()),
            WAITS => Next::to(Self::WAITS, ()),
            QUICK => Next::to(Self::QUICK, ()),
            QUICK_BEATS => Next::to(Self::QUICK_BEATS, ()),
            _ => Next::to(Self::SILENT, ()),
        }
        .and(Self::WIN, step))
    }

    #[step(heartbeat = "10s", on_failure = recover)]
    fn beats(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        self.block(ctx, true)
    }

    #[wait_for(waits)]
    async fn never(&self) -> WaitResult<Self, ()> {
        self.called.add();
        let _ended = Ended(self.ended.clone());
        std::future::pending().await
    }

    #[step(on_failure = recover)]
    async fn waits(&self, _input: (), _outcome: ()) -> StepResult<Self> {
        self.ran_after_wait.add();
        Ok(Next::dead_end())
    }

    #[step(durability = async)]
    fn quick(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        self.block(ctx, false)
    }

    #[step(durability = async, heartbeat = "10s")]
    fn quick_beats(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        self.block(ctx, true)
    }

    #[step(on_failure = recover)]
    fn silent(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        self.block(ctx, false)
    }

    #[step(entry)]
    async fn recover(&self) -> StepResult<Self> {
        self.recovered.add();
        Ok(Next::fail("the step that was ended was recovered"))
    }

    #[wait_for(win)]
    fn told_to(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn win(&self, step: String, _go: ()) -> StepResult<Self> {
        let next = Next::to(Self::LAST, step.clone());
        Ok(match step.as_str() {
            BEATS => next.cancel(Self::BEATS),
            WAITS => next.cancel(Self::WAITS),
            QUICK => next.cancel(Self::QUICK),
            QUICK_BEATS => next.cancel(Self::QUICK_BEATS),
            _ => next.cancel(Self::SILENT),
        })
    }

    #[wait_for(last)]
    fn told_to_finish(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::FINISH.one()))
    }

    #[step]
    async fn last(&self, ctx: &mut StepContext<Self>, step: String, _finish: ()) -> StepResult<Self> {
        if ctx.get(Self::LATE)?.is_some() {
            return Ok(Next::fail("what came after the end was written"));
        }
        Ok(Next::complete(step))
    }
}

impl Race {
    /// Works until it is told to end; then it writes something and goes on, which comes too late.
    fn block(&self, ctx: &mut StepContext<Self>, beats: bool) -> StepResult<Self> {
        self.called.add();
        let _ended = Ended(self.ended.clone());
        while !ctx.is_cancelled() {
            if beats {
                ctx.heartbeat();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        ctx.set(Self::LATE, true)?;
        Ok(Next::to(Self::RECOVER, ()))
    }
}

/// Counts when a handler ends, whether it returns or is dropped.
struct Ended(Counter);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// A message in the place of three seconds starts the second branch: a plain `fn` that works holds a test's clock.
async fn race(step: &'static str) -> Race {
    let race = Race::default();
    let seen = race.clone();
    each_way(
        IN_MEMORY,
        || race.clone(),
        async |t| {
            let before = seen.called.get();
            let run = t.client().start("r", step.into()).await.unwrap();
            while seen.called.get() == before {
                tokio::task::yield_now().await;
            }
            t.reopen().await;
            run.publish(Race::GO, ()).await.unwrap();
            run.wait_for_step(Race::WIN, 1).await.unwrap();
            let ended = match step {
                BEATS => run.wait_for_step(Race::BEATS, 1),
                WAITS => run.wait_for_step(Race::WAITS, 1),
                QUICK => run.wait_for_step(Race::QUICK, 1),
                QUICK_BEATS => run.wait_for_step(Race::QUICK_BEATS, 1),
                _ => run.wait_for_step(Race::SILENT, 1),
            };
            ended.await.unwrap();
            while seen.ended.get() < seen.called.get() {
                tokio::task::yield_now().await;
            }
            t.settle().await;
            assert_eq!(run.get(Race::LATE).await.unwrap(), None, "{:?}", t.way);
            run.publish(Race::FINISH, ()).await.unwrap();
            assert_eq!(run.output().await.unwrap(), step, "{:?}", t.way);
            assert_eq!((seen.recovered.get(), seen.ran_after_wait.get()), (0, 0), "{:?}", t.way);
            if t.way == Way::Straight {
                assert_eq!(seen.called.get(), 1, "what was ended is not tried again");
            }
        },
    )
    .await;
    race
}

/// Row 64
#[tokio::test]
async fn a_step_that_beats_is_told_that_another_ended_it_and_what_it_says_then_is_refused() {
    race(BEATS).await;
}

/// Row 65
// A wait has no way to ask: it is dropped.
#[tokio::test]
async fn a_wait_that_hangs_is_dropped_when_its_step_is_ended_which_then_never_runs() {
    race(WAITS).await;
}

/// Row 66
#[tokio::test]
async fn a_step_that_is_not_waited_for_is_ended_all_the_same() {
    race(QUICK).await;
}

/// Row 67
#[tokio::test]
async fn so_it_is_with_a_heartbeat() {
    race(QUICK_BEATS).await;
}

/// Row 68
#[tokio::test]
async fn a_step_that_never_beats_is_told_where_it_asks() {
    race(SILENT).await;
}

/// Two parents start steps that wait; one of them also starts one that ends others after a second.
struct Family;

#[flow(output = String)]
impl Family {
    /// Whose wait was over.
    #[channel]
    const RAN: Channel<String>;

    #[step(start)]
    async fn begin(&self, siblings: bool) -> StepResult<Self> {
        Ok(Next::to(Self::FIRST, siblings).and(Self::SECOND, siblings))
    }

    #[step]
    async fn first(&self, siblings: bool) -> StepResult<Self> {
        Ok(Next::to(Self::WIN, siblings).and(Self::WAIT, ("first".into(), 30)))
    }

    #[step]
    async fn second(&self, siblings: bool) -> StepResult<Self> {
        Ok(Next::to(Self::WAIT, ("second".into(), if siblings { 2 } else { 30 })))
    }

    #[wait_for(win)]
    fn a_second(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(1))))
    }

    #[step]
    async fn win(&self, siblings: bool, _fired: TimerFired) -> StepResult<Self> {
        Ok(if siblings {
            Next::to(Self::LAST, "siblings".into()).cancel_siblings(Self::WAIT)
        } else {
            Next::to(Self::LAST, "all".into()).cancel(Self::WAIT)
        })
    }

    #[wait_for(wait)]
    fn some_seconds(&self, _ctx: &WaitContext<Self>, input: &(String, u64)) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(input.1))))
    }

    #[step]
    async fn wait(
        &self,
        ctx: &mut StepContext<Self>,
        input: (String, u64),
        _fired: TimerFired,
    ) -> StepResult<Self> {
        ctx.publish(Self::RAN, input.0)?;
        Ok(Next::dead_end())
    }

    #[step]
    async fn last(&self, name: String) -> StepResult<Self> {
        Ok(Next::complete(name))
    }
}

async fn selected(siblings: bool, output: &str, ran: &[&str]) {
    each_way(
        IN_MEMORY,
        || Family,
        async |t| {
            t.client().start("r", siblings).await.unwrap();
            t.phase().await;
            for _ in 0..3 {
                t.advance(seconds(1)).await;
                t.phase().await;
            }
            let run = t.run().await;
            assert_eq!(run.describe().await.unwrap().status, Status::Completed, "{:?}", t.way);
            assert_eq!(run.output().await.unwrap(), output, "{:?}", t.way);
            assert_eq!(run.messages(Family::RAN).await.unwrap(), ran, "{:?}", t.way);
        },
    )
    .await;
}

/// Row 69
#[tokio::test]
async fn a_decision_ends_every_execution_of_a_step() {
    selected(false, "all", &[]).await;
}

/// Row 70
#[tokio::test]
async fn a_decision_ends_only_those_that_have_its_parent() {
    selected(true, "siblings", &["second"]).await;
}

/// Waits for a word for ever.
struct Listener;

#[flow(output = String)]
impl Listener {
    #[channel]
    const WORDS: Channel<String>;

    #[wait_for(listen)]
    fn a_word(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::WORDS.one()))
    }

    #[step(start)]
    async fn listen(&self, _input: (), word: String) -> StepResult<Self> {
        Ok(Next::complete(word))
    }
}

/// Has no step but the one for the end of its time.
struct Expires;

#[flow(output = String)]
impl Expires {
    #[on_timeout]
    async fn expired(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.heartbeat();
        Ok(Next::complete_now("expired".into()))
    }
}

/// Row 71
#[tokio::test]
async fn a_run_whose_time_is_up_fails_and_says_after_how_long() {
    each_way(
        IN_MEMORY,
        || Listener,
        async |t| {
            t.client().start("r", ()).timeout(seconds(1)).await.unwrap();
            t.phase().await;
            t.advance(seconds(1)).await;
            t.phase().await;
            let run = t.run().await;
            let result = run.result().await.unwrap();
            assert_eq!((result.status(), result.closing()), (Status::Failed, &Closing::TimedOut));
            assert!(result.outputs().unwrap().is_empty());
            let error = run.output().await.unwrap_err();
            assert!(error.to_string().contains("its time was up after 1s"), "{error}");
        },
    )
    .await;
}

/// Row 72
#[tokio::test]
async fn the_step_for_the_end_of_its_time_completes_a_run() {
    each_way(
        IN_MEMORY,
        || Expires,
        async |t| {
            t.client().start("r", ()).timeout(seconds(1)).await.unwrap();
            t.phase().await;
            t.advance(seconds(1)).await;
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!(result.outputs().unwrap(), [("expired-1".to_owned(), "expired".to_owned())]);
        },
    )
    .await;
}

/// Row 73
#[tokio::test]
async fn a_start_may_have_a_run_canceled_at_the_end_of_its_time_instead() {
    each_way(
        IN_MEMORY,
        || Expires,
        async |t| {
            t.client().start("r", ()).timeout(seconds(1)).on_timeout(TimeoutPolicy::Cancel).await.unwrap();
            t.phase().await;
            t.advance(seconds(1)).await;
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!(result.status(), Status::Canceled, "{:?}", t.way);
            assert!(result.outputs().unwrap().is_empty());
        },
    )
    .await;
}

/// Rows 74 and 104
#[tokio::test]
async fn what_to_do_at_the_end_of_a_time_needs_a_time_and_a_step() {
    each_way_beside(
        IN_MEMORY,
        || Listener,
        |engine| engine.flow(Expires),
        async |t| {
            let client = t.client();
            let timeless = client.start("r", ()).on_timeout(TimeoutPolicy::Cancel).await.unwrap_err();
            assert!(timeless.to_string().contains("`.timeout(…)`"), "{timeless}");
            let start = client.start("r", ()).timeout(seconds(1)).on_timeout(TimeoutPolicy::Step);
            let stepless = start.await.unwrap_err();
            assert!(stepless.to_string().contains("`Listener`"), "{stepless}");
            let dynamic = t.dex().dynamic().start("Expires", "r", serde_json::Value::Null);
            let by_name = dynamic.on_timeout(TimeoutPolicy::Step).await.unwrap_err();
            for error in [timeless, stepless, by_name] {
                assert_eq!(error.kind(), ErrorKind::InvalidSetup);
            }
            assert!(client.run("r").await.unwrap_err().is_not_found(), "something was started");
        },
    )
    .await;
}

/// Its step fails after a wait for nothing.
struct Fails;

#[flow(output = ())]
impl Fails {
    #[wait_for(only)]
    fn no_wait(&self) -> WaitResult<Self, ()> {
        Ok(Wait::ready(()))
    }

    #[step(start, retry(attempts = 1))]
    async fn only(&self, fail: bool, _outcome: ()) -> StepResult<Self> {
        if fail { Err(StepError::new("the store is closed")) } else { Ok(Next::complete(())) }
    }
}

/// Row 77
#[tokio::test]
async fn a_step_whose_attempts_are_used_up_fails_the_run_with_its_text() {
    each_way(
        IN_MEMORY,
        || Fails,
        async |t| {
            t.client().start("r", true).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let result = run.result().await.unwrap();
            let Closing::StepFailed { step, number: 1, failure } = result.closing() else {
                panic!("{result:?}")
            };
            assert_eq!((step.as_str(), failure.kind), ("only", FailureKind::Error));
            assert_eq!(failure.message, "the store is closed");
            assert!(result.outputs().unwrap().is_empty());
            assert!(run.output().await.unwrap_err().to_string().contains("the store is closed"));
        },
    )
    .await;
}
