//! Timers, extreme times, and waits that begin again.

use std::time::{Duration, SystemTime};

use dex::prelude::*;
use dex::testing;
use dex::{ErrorKind, Options, Status, Timestamp};
use tokio::sync::watch;

use crate::support::{Counter, IN_MEMORY, each_way, engine, hours, seconds};

/// Times that overflow somewhere: those that have come, and those that never will.
const COME: &[fn() -> Timer] = &[
    || Timer::after(Duration::ZERO),
    || Timer::at(SystemTime::UNIX_EPOCH),
    || Timer::at(SystemTime::UNIX_EPOCH - seconds(62_135_596_800)),
    || Timer::at(SystemTime::UNIX_EPOCH - Duration::from_nanos(1)),
];

const NEVER: &[fn() -> Timer] = &[
    || Timer::after(Duration::MAX),
    || Timer::after(Duration::from_millis(u64::MAX)),
    || Timer::after(seconds(i64::MAX.unsigned_abs())),
    || Timer::at(SystemTime::UNIX_EPOCH + seconds(i64::MAX.unsigned_abs())),
    || Timer::at(Timestamp::MAX.into()),
];

/// Waits for one of the times.
struct Extreme;

#[flow(output = ())]
impl Extreme {
    #[step(start)]
    async fn begin(&self, place: usize) -> StepResult<Self> {
        Ok(Next::to(Self::END, place))
    }

    #[wait_for(end)]
    fn then(&self, _ctx: &WaitContext<Self>, place: &usize) -> WaitResult<Self, TimerFired> {
        let times = COME.iter().chain(NEVER).chain([&((|| Timer::after(seconds(1))) as fn() -> Timer)]);
        let time = times.clone().nth(*place).ok_or_else(|| StepError::fatal("no such time"))?;
        Ok(Wait::one(time()))
    }

    #[step]
    async fn end(&self, _place: usize, _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// C1
#[tokio::test]
async fn the_most_extreme_times_have_come_or_never_come_and_stop_nobody() {
    each_way(
        IN_MEMORY,
        || Extreme,
        async |t| {
            for place in 0..COME.len() + NEVER.len() {
                t.client().start(format!("r{place}"), place).await.unwrap();
            }
            t.phase().await;
            let near = t.client().start("near", COME.len() + NEVER.len()).await.unwrap();
            t.advance(seconds(1)).await;
            near.output().await.unwrap();
            for place in 0..COME.len() + NEVER.len() {
                let info = t.client().run(format!("r{place}")).await.unwrap().describe().await.unwrap();
                if place < COME.len() {
                    assert_eq!(info.status, Status::Completed, "{:?}: {place}", t.way);
                } else {
                    assert_eq!(info.steps[0].due, Some(Timestamp::MAX), "{:?}: {place}", t.way);
                }
            }
        },
    )
    .await;
}

/// Hangs where its caller says.
#[derive(Default)]
struct Hangs {
    calls: Counter,
}

#[flow(output = u32)]
impl Hangs {
    #[attribute]
    const SEEN: Attribute<u32>;
    #[channel]
    const GO: Channel<u32>;

    #[step(start)]
    async fn begin(&self, fails: bool) -> StepResult<Self> {
        Ok(if fails { Next::to(Self::FAIL, ()) } else { Next::to(Self::END, ()) })
    }

    #[wait_for(end)]
    fn a_message(&self) -> WaitResult<Self, u32> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn end(&self, ctx: &mut StepContext<Self>, _input: (), number: u32) -> StepResult<Self> {
        ctx.set(Self::SEEN, number)?;
        Ok(Next::complete(number))
    }

    #[step]
    async fn fail(&self, _input: ()) -> StepResult<Self> {
        match self.calls.add() {
            1 => Err(StepError::retry_after(Duration::ZERO, "at once")),
            _ => Err(StepError::retry_after(Duration::MAX, "never")),
        }
    }

    #[rpc]
    async fn hang(&self, _ctx: &RpcContext<Self>) -> RpcResult<()> {
        std::future::pending().await
    }

    #[rpc]
    async fn answer(&self, _ctx: &RpcContext<Self>) -> RpcResult<u32> {
        Ok(7)
    }
}

/// C2
#[tokio::test]
async fn the_longest_budget_is_for_ever_and_none_at_all_is_at_once() {
    let t = engine(Hangs::default()).await;
    let run = t.client::<Hangs>().start("r", false).await.unwrap();
    let errors = [
        run.output().timeout(Duration::ZERO).await.err(),
        run.result().timeout(Duration::ZERO).await.err(),
        run.wait_until(Hangs::SEEN, |seen| seen.is_some()).timeout(Duration::ZERO).await.err(),
        run.wait_for_step(Hangs::END, 1).timeout(Duration::ZERO).await.err(),
    ];
    for error in errors {
        assert_eq!(error.unwrap().kind(), ErrorKind::Timeout);
    }
    let output = run.output().timeout(Duration::MAX);
    let seen = run.wait_until(Hangs::SEEN, |seen| seen.is_some()).timeout(Duration::MAX);
    let ended = run.wait_for_step(Hangs::END, 1).timeout(Duration::MAX);
    t.advance(hours(1_000)).await;
    run.publish(Hangs::GO, 3).await.unwrap();
    assert_eq!(output.await.unwrap(), 3);
    assert_eq!(seen.await.unwrap(), Some(3));
    ended.await.unwrap();
    // Nothing is under way, so the longest grace is no wait.
    t.shutdown(Duration::MAX).await.unwrap();
}

/// C2
#[tokio::test]
async fn the_longest_pause_is_over_every_limit_and_none_at_all_is_the_shortest() {
    let t = engine(Hangs::default()).await;
    let run = t.client::<Hangs>().start("r", true).await.unwrap();
    t.settle().await;
    let due = run.describe().await.unwrap().steps[0].due.unwrap();
    assert_eq!(due.since(t.now()), Duration::from_millis(1), "a pause of nothing would be a busy loop");
    t.advance(Duration::from_millis(1)).await;
    let error = run.output().await.err().unwrap();
    assert!(error.to_string().contains("never"), "{error}");
    assert_eq!(t.flow::<Hangs>().calls.get(), 2);
}

/// C2
#[tokio::test]
async fn the_longest_and_the_shortest_time_for_rpcs_hold() {
    for (rpc_timeout, waits) in [(Duration::MAX, true), (Duration::ZERO, false)] {
        let options = Options { rpc_timeout, ..Options::default() };
        let t = testing::engine().options(options).flow(Hangs::default()).start().await.unwrap();
        let run = t.client::<Hangs>().start("r", false).await.unwrap();
        assert_eq!(run.answer().await.unwrap(), 7, "what answers at once needs no time");
        let call = tokio::spawn({
            let run = run.clone();
            async move { run.hang().await.err().map(|error| error.kind()) }
        });
        t.advance(hours(1_000)).await;
        if waits {
            assert!(!call.is_finished(), "{rpc_timeout:?}");
        } else {
            // The call may still be about to begin; when it ends is its own business.
            assert_eq!(call.await.unwrap(), Some(ErrorKind::Timeout));
        }
    }
}

/// C2
#[tokio::test]
async fn bounds_of_nothing_are_refused_by_name_and_the_smallest_ones_work() {
    let options = Options::default;
    let mut no_messages = options();
    no_messages.limits.channel_messages_max = 0;
    let mut no_steps = options();
    no_steps.limits.executions_max = 0;
    let nothing = [
        ("channel_messages_max", no_messages),
        ("executions_max", no_steps),
        ("worker_slots", Options { worker_slots: 0, ..options() }),
        ("commit_transitions_max", Options { commit_transitions_max: 0, ..options() }),
        ("commit_queue_max", Options { commit_queue_max: 0, ..options() }),
        ("timers_max", Options { timers_max: 0, ..options() }),
        ("rpc_attempts_max", Options { rpc_attempts_max: 0, ..options() }),
    ];
    for (name, options) in nothing {
        let error = testing::engine().options(options).flow(TwoTimers).start().await.err();
        let error = error.unwrap_or_else(|| panic!("{name} of 0 was taken"));
        assert_eq!(error.kind(), ErrorKind::InvalidSetup, "{name}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let smallest = Options {
        worker_slots: 1,
        idle_runs_max: 0,
        commit_transitions_max: 1,
        commit_queue_max: 1,
        timers_max: 1,
        rpc_attempts_max: 1,
        ..options()
    };
    let t = testing::engine().options(smallest).flow(TwoTimers).start().await.unwrap();
    for number in 0..5 {
        t.client::<TwoTimers>().start(format!("r{number}"), ()).await.unwrap();
        t.settle().await;
    }
    t.advance(seconds(1)).await;
    for number in 0..5 {
        let run = t.client::<TwoTimers>().run(format!("r{number}")).await.unwrap();
        run.publish(TwoTimers::GO, ()).await.unwrap();
        t.settle().await;
        t.advance(seconds(10)).await;
        run.output().await.unwrap();
    }
}

/// Sleeps a second, waits for a message, sleeps ten seconds.
struct TwoTimers;

#[flow(output = ())]
impl TwoTimers {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::FIRST, ()))
    }

    #[wait_for(first)]
    fn a_second(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(1))))
    }

    #[step]
    async fn first(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::to(Self::BETWEEN, ()))
    }

    #[wait_for(between)]
    fn a_message(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn between(&self, _input: (), _go: ()) -> StepResult<Self> {
        Ok(Next::to(Self::SECOND, ()))
    }

    #[wait_for(second)]
    fn ten_seconds(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(10))))
    }

    #[step]
    async fn second(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// C4
#[tokio::test]
async fn a_second_timer_counts_from_its_own_beginning() {
    each_way(
        IN_MEMORY,
        || TwoTimers,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.advance(seconds(1)).await;
            t.phase().await;
            t.advance(seconds(5)).await;
            let second = t.now();
            t.run().await.publish(TwoTimers::GO, ()).await.unwrap();
            t.phase().await;
            t.advance(seconds(9)).await;
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running, "{:?}", t.way);
            t.advance(seconds(1)).await;
            let closed = t.run().await.describe().await.unwrap().closed.unwrap();
            assert_eq!(closed.at.since(second), seconds(10), "{:?}", t.way);
        },
    )
    .await;
}

/// Hangs in every attempt, and has a step for that.
#[derive(Default)]
struct TimesOut {
    attempts: Counter,
}

#[flow(output = u32)]
impl TimesOut {
    #[step(
        start,
        timeout = "100ms",
        retry(attempts = 3, initial = "1s", factor = 1, max_interval = "1s"),
        on_failure = give_up
    )]
    async fn hang(&self, _input: ()) -> StepResult<Self> {
        self.attempts.add();
        std::future::pending().await
    }

    #[step]
    async fn give_up(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        Ok(Next::complete(ctx.recovery().map_or(0, |recovery| recovery.attempts)))
    }
}

/// C8
#[tokio::test]
async fn every_attempt_has_a_timeout_of_its_own() {
    let t = engine(TimesOut::default()).await;
    let begun = t.now();
    let run = t.client::<TimesOut>().start("r", ()).await.unwrap();
    t.advance(seconds(10)).await;
    assert_eq!(run.output().await.unwrap(), 3);
    assert_eq!(t.flow::<TimesOut>().attempts.get(), 3);
    let took = run.describe().await.unwrap().closed.unwrap().at.since(begun);
    // Three times 100 ms, and two pauses of a second, give or take a tenth.
    assert!(took >= Duration::from_millis(2_100) && took <= Duration::from_millis(2_500), "{took:?}");
}

/// One branch works until it is let go; the other waits for a message or some milliseconds.
struct Beside {
    go: watch::Sender<bool>,
}

#[flow(output = String)]
impl Beside {
    #[channel]
    const MESSAGES: Channel<String>;

    #[step(start)]
    async fn begin(&self, pause: u64) -> StepResult<Self> {
        Ok(Next::to(Self::WORK, ()).and(Self::WAIT, pause))
    }

    #[step]
    async fn work(&self, _input: ()) -> StepResult<Self> {
        let _ = self.go.subscribe().wait_for(|go| *go).await;
        Ok(Next::complete("worked".into()))
    }

    #[wait_for(wait)]
    fn message_or_time(
        &self,
        _ctx: &WaitContext<Self>,
        pause: &u64,
    ) -> WaitResult<Self, OneOf2<TimerFired, String>> {
        Ok(Wait::any((Timer::after(Duration::from_millis(*pause)), Self::MESSAGES.one())))
    }

    #[step]
    async fn wait(&self, _pause: u64, got: OneOf2<TimerFired, String>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }
}

/// C10
#[tokio::test]
async fn the_shortest_timers_fire_while_a_sibling_works() {
    let t = engine(Beside { go: watch::Sender::new(false) }).await;
    let begun = t.now();
    for pause in [1, 50, 999] {
        t.client::<Beside>().start(format!("r{pause}"), pause).await.unwrap();
    }
    t.advance(seconds(1)).await;
    for pause in [1, 50, 999] {
        let run = t.client::<Beside>().run(format!("r{pause}")).await.unwrap();
        let info = run.describe().await.unwrap();
        assert_eq!(info.steps.len(), 1, "{pause} ms: {info:?}");
        assert_eq!(info.steps[0].id, "work-1");
    }
    t.flow::<Beside>().go.send_replace(true);
    for pause in [1, 50, 999] {
        let run = t.client::<Beside>().run(format!("r{pause}")).await.unwrap();
        let outputs = run.result().await.unwrap().outputs().unwrap();
        assert_eq!(outputs[0], ("wait-1".to_owned(), "First(TimerFired)".to_owned()));
        assert!(run.describe().await.unwrap().closed.unwrap().at.since(begun) <= seconds(1));
    }
}

/// Waits over and over for a message or 100 ms.
struct Again;

#[flow(output = Vec<Option<u32>>)]
impl Again {
    #[channel]
    const MESSAGES: Channel<u32>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, Vec::new()))
    }

    #[wait_for(take)]
    fn message_or_time(
        &self,
        _ctx: &WaitContext<Self>,
        _seen: &Vec<Option<u32>>,
    ) -> WaitResult<Self, OneOf2<u32, TimerFired>> {
        Ok(Wait::any((Self::MESSAGES.one(), Timer::after(Duration::from_millis(100)))))
    }

    #[step]
    async fn take(&self, mut seen: Vec<Option<u32>>, got: OneOf2<u32, TimerFired>) -> StepResult<Self> {
        seen.push(match got {
            OneOf2::First(message) => Some(message),
            OneOf2::Second(TimerFired) => None,
        });
        Ok(if seen.len() == 6 { Next::complete(seen) } else { Next::to(Self::TAKE, seen) })
    }
}

/// C11
#[tokio::test]
async fn a_wait_that_timed_out_does_not_take_the_message_of_the_next_one() {
    each_way(
        IN_MEMORY,
        || Again,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            for round in 0..3 {
                t.settle().await;
                t.advance(Duration::from_millis(100)).await;
                t.phase().await;
                t.run().await.publish(Again::MESSAGES, round).await.unwrap();
            }
            let seen = t.run().await.output().await.unwrap();
            assert_eq!(seen, [None, Some(0), None, Some(1), None, Some(2)], "{:?}", t.way);
        },
    )
    .await;
}
