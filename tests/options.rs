//! Options of one movement: a patch over those of the step, kept with the execution.
#![cfg(test)]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::TestEngine;
use dex::{Closing, Durability, ErrorKind, FailureKind, OnExhausted};
use serde::{Deserialize, Serialize};
use support::{ALL, IN_MEMORY, each_way, hours, seconds};

/// What the movement to [`Patient::work`] is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Movement {
    Plain,
    Attempts,
    Pauses,
    Timeout,
    Heartbeat,
    NoTimeout,
    Recovery,
    Park,
    Proceed,
    Bad(Bad),
}

/// Options that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Bad {
    ZeroTimeout,
    TooLong,
    Factor,
    NoAttempts,
    Pauses,
    Silence,
    TwoEnds,
    Async,
}

/// A step with options, and movements to it with others. It fails, or hangs if the movement is about time.
#[derive(Default)]
struct Patient {
    log: Arc<Mutex<Vec<String>>>,
}

impl Patient {
    fn note(&self, what: String) {
        self.log.lock().unwrap().push(what);
    }

    fn options(movement: Movement) -> StepOptions<Self, Movement> {
        let options = StepOptions::new();
        match movement {
            Movement::Plain => options,
            Movement::Attempts => options.attempts(5),
            Movement::Pauses => options.initial(seconds(10)).factor(1.0).max_interval(seconds(10)),
            Movement::Timeout => options.timeout(seconds(5)),
            Movement::NoTimeout => options.timeout(hours(24)),
            Movement::Heartbeat => options.heartbeat(seconds(3)),
            Movement::Recovery => options.on_failure(Self::OTHER),
            Movement::Park => options.on_exhausted(OnExhausted::Park),
            Movement::Proceed => options.on_exhausted(OnExhausted::Proceed),
            Movement::Bad(bad) => Self::bad(bad),
        }
    }

    fn bad(bad: Bad) -> StepOptions<Self, Movement> {
        let options = StepOptions::new();
        match bad {
            Bad::ZeroTimeout => options.timeout(Duration::ZERO),
            Bad::TooLong => options.total(Duration::MAX),
            Bad::Factor => options.factor(0.5),
            Bad::NoAttempts => options.attempts(0),
            Bad::Pauses => options.initial(seconds(5)),
            Bad::Silence => options.heartbeat(seconds(60)),
            Bad::TwoEnds => options.on_exhausted(OnExhausted::Park).on_failure(Self::OTHER),
            Bad::Async => options.durability(Durability::Async),
        }
    }
}

/// Whether the step hangs, so that its time is what ends an attempt.
fn hangs(movement: Movement) -> bool {
    matches!(movement, Movement::Timeout | Movement::NoTimeout | Movement::Heartbeat)
}

#[flow(output = String)]
impl Patient {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, movement: Movement) -> StepResult<Self> {
        self.note("begin".into());
        Ok(Next::to_with(Self::WORK, movement, Self::options(movement)))
    }

    #[step(
        retry(attempts = 2, initial = "2s", max_interval = "2s"),
        timeout = "30s",
        heartbeat = "20s",
        on_failure = mend
    )]
    async fn work(&self, ctx: &mut StepContext<Self>, movement: Movement) -> StepResult<Self> {
        self.note(format!("work {}", ctx.attempt()));
        if movement == Movement::NoTimeout {
            ctx.heartbeat();
        }
        if hangs(movement) {
            return std::future::pending().await;
        }
        Err(StepError::new("no luck"))
    }

    #[step(retry(attempts = 1))]
    async fn mend(&self, ctx: &mut StepContext<Self>, _movement: Movement) -> StepResult<Self> {
        let Some(recovery) = ctx.recovery() else { return Ok(Next::fail("there is nothing to mend")) };
        self.note(format!("mend after {}", recovery.failure.message));
        Ok(Next::complete(format!("mended after {}", recovery.attempts)))
    }

    #[step(entry, retry(attempts = 1), timeout = "7s")]
    async fn other(&self, _ctx: &mut StepContext<Self>, _movement: Movement) -> StepResult<Self> {
        self.note("other".into());
        std::future::pending().await
    }

    #[wait_for(ask)]
    fn unwilling(&self, ctx: &mut WaitContext<Self>, _n: &u32) -> WaitResult<Self, ()> {
        self.note(format!("wait {}", ctx.attempt()));
        if ctx.attempt() < 3 {
            return Err(StepError::new("not yet"));
        }
        Ok(Wait::one(Self::GO.one()))
    }

    #[step(entry, retry(attempts = 1, initial = "1s"))]
    async fn ask(&self, ctx: &mut StepContext<Self>, _n: u32, _go: ()) -> StepResult<Self> {
        self.note(format!("ask {}", ctx.attempt()));
        Err(StepError::new("no answer"))
    }

    #[rpc]
    async fn ask_often(&self, ctx: &mut RpcContext<Self>, attempts: u32) -> RpcResult<()> {
        ctx.start_step_with(Self::ASK, 1, StepOptions::new().attempts(attempts))
    }

    #[rpc]
    async fn go(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.publish(Self::GO, ())
    }
}

/// What was done in a run that begins so, and how it ended.
async fn done(t: &TestEngine, movement: Movement) -> (Vec<String>, Option<Closing>) {
    let run = t.client::<Patient>().start(format!("{movement:?}"), movement).await.unwrap();
    t.advance(hours(1)).await;
    let log = std::mem::take(&mut *t.flow::<Patient>().log.lock().unwrap());
    let closing = run.describe().await.unwrap().closed.map(|closed| closed.closing);
    (log, closing)
}

async fn patient() -> TestEngine {
    dex::testing::engine().flow(Patient::default()).start().await.unwrap()
}

#[tokio::test]
async fn a_movement_without_options_goes_by_those_of_the_step() {
    let t = patient().await;
    let (log, _) = done(&t, Movement::Plain).await;
    assert_eq!(log, ["begin", "work 1", "work 2", "mend after no luck"]);
}

#[tokio::test]
async fn a_count_of_attempts_is_honoured_and_the_recovery_of_the_step_stays() {
    let t = patient().await;
    let (log, closing) = done(&t, Movement::Attempts).await;
    assert_eq!(log, ["begin", "work 1", "work 2", "work 3", "work 4", "work 5", "mend after no luck"]);
    assert_eq!(closing, Some(Closing::Completed));
}

#[tokio::test]
async fn pauses_are_those_of_the_movement() {
    let t = patient().await;
    let run = t.client::<Patient>().start("r", Movement::Pauses).await.unwrap();
    t.settle().await;
    let step = run.describe().await.unwrap().steps.remove(0);
    let pause = step.due.unwrap().since(t.now());
    // Ten seconds, spread by a tenth to either side; the step's own are two.
    assert!(pause >= seconds(9) && pause <= seconds(11), "{pause:?}");
}

#[tokio::test]
async fn an_attempt_ends_at_the_timeout_of_the_movement() {
    let t = patient().await;
    let run = t.client::<Patient>().start("r", Movement::Timeout).await.unwrap();
    t.advance(seconds(4)).await;
    assert_eq!(run.describe().await.unwrap().steps[0].last_failure, None);
    t.advance(seconds(2)).await;
    let step = run.describe().await.unwrap().steps.remove(0);
    let failure = step.last_failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(failure.message.ends_with("longer than 5s"), "{failure:?}");
}

#[tokio::test]
async fn a_longer_timeout_leaves_the_heartbeat_of_the_step() {
    let (t, run) = (patient().await, "r");
    let run = t.client::<Patient>().start(run, Movement::NoTimeout).await.unwrap();
    t.advance(seconds(21)).await;
    let failure = run.describe().await.unwrap().steps.remove(0).last_failure.unwrap();
    assert_eq!(failure.kind, FailureKind::HeartbeatTimeout);
}

#[tokio::test]
async fn silence_is_as_long_as_the_movement_says() {
    let t = patient().await;
    let run = t.client::<Patient>().start("r", Movement::Heartbeat).await.unwrap();
    t.advance(seconds(4)).await;
    let failure = run.describe().await.unwrap().steps.remove(0).last_failure.unwrap();
    assert_eq!(failure.kind, FailureKind::HeartbeatTimeout);
    assert!(failure.message.ends_with("for 3s"), "{failure:?}");
}

#[tokio::test]
async fn another_step_takes_over_and_goes_by_its_own_options() {
    let t = patient().await;
    let (log, closing) = done(&t, Movement::Recovery).await;
    assert_eq!(log, ["begin", "work 1", "work 2", "other"]);
    // Its own timeout, of 7 seconds, and its one attempt: nothing of the patch, nothing of the patched step.
    let Some(Closing::StepFailed { step, failure, .. }) = closing else { panic!("{closing:?}") };
    assert_eq!((step.as_str(), failure.kind), ("other", FailureKind::Timeout));
    assert!(failure.message.ends_with("longer than 7s"), "{failure:?}");
}

#[tokio::test]
async fn what_the_movement_says_of_the_end_takes_the_place_of_the_steps_recovery() {
    let t = patient().await;
    let (log, closing) = done(&t, Movement::Park).await;
    assert_eq!((log.len(), closing), (3, None));
    let run = t.client::<Patient>().run("Park").await.unwrap();
    let step = run.describe().await.unwrap().steps.remove(0);
    assert_eq!(step.phase, StepPhase::Parked);
    // The patch is kept: two attempts more, and it stands again.
    run.retry_step("work-1").await.unwrap();
    t.advance(hours(1)).await;
    assert_eq!(run.describe().await.unwrap().steps.remove(0).phase, StepPhase::Parked);
    assert_eq!(t.flow::<Patient>().log.lock().unwrap().len(), 2);

    let (_, closing) = done(&t, Movement::Proceed).await;
    assert_eq!(closing, None, "the branch has ended, and the run is open");
    assert_eq!(t.client::<Patient>().run("Proceed").await.unwrap().describe().await.unwrap().steps, []);
}

#[tokio::test]
async fn options_that_cannot_work_park_the_step_that_decides_so() {
    for (bad, reason) in [
        (Bad::ZeroTimeout, "`timeout` is 0ns: give it a millisecond at least, or leave it out"),
        (Bad::TooLong, "`total` is "),
        (Bad::Factor, "`factor` is 0.5, and has to be from 1 to 1000"),
        (Bad::NoAttempts, "`attempts` counts the first one too: give at least 1"),
        (Bad::Pauses, "`initial`, 5s, is longer than `max_interval`, 2s: "),
        (Bad::Silence, "`heartbeat`, 60s, is not shorter than `timeout`, 30s, so it would never be missed: "),
        (Bad::TwoEnds, "`on_failure` says what happens when the retries are used up"),
        (Bad::Async, "a step with `on_failure` is always `Sync`"),
    ] {
        let t = patient().await;
        let run = t.client::<Patient>().start("r", Movement::Bad(bad)).await.unwrap();
        t.advance(hours(10)).await;
        let info = run.describe().await.unwrap();
        let step = &info.steps[0];
        assert_eq!((step.id.as_str(), step.phase, step.failures), ("begin-1", StepPhase::Parked, 1));
        let failure = step.last_failure.clone().unwrap();
        assert_eq!(failure.kind, FailureKind::Unworkable);
        let expected = format!("the options given for step `work`: {reason}");
        assert!(failure.message.starts_with(&expected), "{}", failure.message);
        assert!(info.explain().contains("`retry_step(\"begin-1\")` moves it"), "{}", info.explain());
        // Not one attempt more, however long it stands; a new one once somebody asks for it.
        assert_eq!(*t.flow::<Patient>().log.lock().unwrap(), ["begin"]);
        run.retry_step("begin-1").await.unwrap();
        t.settle().await;
        assert_eq!(*t.flow::<Patient>().log.lock().unwrap(), ["begin", "begin"]);
    }
}

#[tokio::test]
async fn the_wait_and_the_step_have_the_options_of_an_rpc() {
    let t = patient().await;
    let run = t.client::<Patient>().start("r", Movement::Park).await.unwrap();
    run.ask_often(3).await.unwrap();
    t.advance(seconds(10)).await;
    run.go().await.unwrap();
    t.advance(seconds(10)).await;
    let log = t.flow::<Patient>().log.lock().unwrap().clone();
    let of_ask: Vec<_> = log.iter().filter(|line| !line.starts_with("work") && *line != "begin").collect();
    assert_eq!(of_ask, ["wait 1", "wait 2", "wait 3", "ask 1", "ask 2", "ask 3"]);
}

#[tokio::test]
async fn options_that_cannot_work_fail_the_rpc_that_gives_them() {
    let t = patient().await;
    let run = t.client::<Patient>().start("r", Movement::Timeout).await.unwrap();
    let error = run.ask_often(0).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RpcFailed);
    let text = error.to_string();
    assert!(text.contains("the options given for step `ask`: `attempts` counts the first one too"), "{text}");
    assert_eq!(run.describe().await.unwrap().steps.len(), 1);
}

#[tokio::test]
async fn a_patch_is_there_after_a_restart() {
    each_way(ALL, Patient::default, async |world| {
        world.client().start("r", Movement::Attempts).await.unwrap();
        for _ in 0..4 {
            world.phase().await;
            let info = world.run().await.describe().await.unwrap();
            assert_eq!(
                info.steps[0].patch.as_ref().map(ToString::to_string).as_deref(),
                Some("attempts = 5")
            );
            world.advance(seconds(2)).await;
        }
        world.advance(seconds(5)).await;
        assert_eq!(world.run().await.output().await.unwrap(), "mended after 5");
    })
    .await;
}

#[tokio::test]
async fn what_a_movement_changes_is_told_with_the_step() {
    let t = patient().await;
    let run = t.client::<Patient>().start("r", Movement::Attempts).await.unwrap();
    t.settle().await;
    let explained = run.describe().await.unwrap().explain();
    assert!(explained.ends_with("; its movement says attempts = 5"), "{explained}");
    let run = t.client::<Patient>().start("plain", Movement::Plain).await.unwrap();
    t.settle().await;
    let info = run.describe().await.unwrap();
    assert_eq!(info.steps[0].patch, None);
    assert!(!info.explain().contains("movement"), "{}", info.explain());
}

/// Fans out, and goes on if a channel has something.
struct Fan;

#[flow(output = u32)]
impl Fan {
    #[channel]
    const MORE: Channel<u32>;

    #[step(start)]
    async fn split(&self, ctx: &mut StepContext<Self>, n: u32) -> StepResult<Self> {
        ctx.publish(Self::MORE, n)?;
        let patient = StepOptions::new().attempts(n);
        Ok(Next::each_with(Self::PART, [1, 2], patient).and(Self::PART, 3).and_with(Self::LAST, 4, patient))
    }

    #[step(retry(attempts = 1), on_exhausted = proceed)]
    async fn part(&self, _n: u32) -> StepResult<Self> {
        Err(StepError::new("no"))
    }

    #[step(on_exhausted = proceed)]
    async fn last(&self, n: u32) -> StepResult<Self> {
        let twice = StepOptions::new().attempts(2).timeout(seconds(9));
        Ok(Next::complete_if_empty(Self::MORE, n).or_to_with(Self::PART, 5, twice))
    }
}

#[tokio::test]
async fn each_movement_of_a_decision_has_its_own_options() {
    each_way(
        IN_MEMORY,
        || Fan,
        async |world| {
            world.client().start("r", 3).await.unwrap();
            world.phase().await;
            let info = world.run().await.describe().await.unwrap();
            let told = info.steps.iter().map(|step| {
                let patch = step.patch.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{} {patch}", step.id)
            });
            let told: Vec<_> = told.collect();
            assert_eq!(
                told,
                ["part-1 attempts = 3", "part-2 attempts = 3", "part-4 attempts = 2, timeout = 9s"]
            );
            world.advance(hours(1)).await;
            assert_eq!(world.run().await.describe().await.unwrap().steps, []);
        },
    )
    .await;
}
