//! Timers: never early, however far, whatever happens in between.
#![cfg(test)]

mod support;

use std::time::{Duration, SystemTime};

use dex::prelude::*;
use dex::{Options, Status, Timestamp};
use serde::{Deserialize, Serialize};
use support::{ALL, IN_MEMORY, Way, World, each_way, hours, seconds};

/// When [`Sleeper`] wakes.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum When {
    After(Duration),
    At(SystemTime),
}

/// Waits once and completes.
struct Sleeper;

#[flow(output = ())]
impl Sleeper {
    #[step(start)]
    async fn begin(&self, when: When) -> StepResult<Self> {
        Ok(Next::to(Self::WAKE, when))
    }

    #[wait_for(wake)]
    fn until_then(&self, _ctx: &WaitContext<Self>, when: &When) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(match when {
            When::After(pause) => Timer::after(*pause),
            When::At(at) => Timer::at(*at),
        }))
    }

    #[step]
    async fn wake(&self, _when: When, _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

async fn status(t: &World<'_, Sleeper>) -> Status {
    t.run().await.describe().await.unwrap().status
}

#[tokio::test]
async fn a_timer_is_never_early_and_fires_at_its_instant() {
    each_way(
        ALL,
        || Sleeper,
        async |t| {
            let start = t.now();
            t.client().start("r", When::After(hours(24))).await.unwrap();
            t.phase().await;
            t.advance(hours(24).saturating_sub(Duration::from_micros(1))).await;
            t.phase().await;
            assert_eq!(status(t).await, Status::Running, "{:?}", t.way);
            t.advance(Duration::from_micros(1)).await;
            t.phase().await;
            let closed = t.run().await.describe().await.unwrap().closed.unwrap();
            assert_eq!(closed.at, start.saturating_add(hours(24)), "{:?}", t.way);
        },
    )
    .await;
}

#[tokio::test]
async fn four_hundred_days_pass_with_a_restart_every_month() {
    let day = hours(24);
    each_way(
        ALL,
        || Sleeper,
        async |t| {
            let start = t.now();
            t.client().start("r", When::After(day * 400)).await.unwrap();
            for _ in 0..13 {
                t.advance(day * 30).await;
                t.reopen().await;
            }
            assert_eq!(status(t).await, Status::Running);
            t.advance(day * 30).await;
            let closed = t.run().await.describe().await.unwrap().closed.unwrap();
            assert_eq!(closed.at.since(start), day * 400);
        },
    )
    .await;
}

#[tokio::test]
async fn a_timer_that_comes_due_while_the_engine_is_down_fires_at_the_next_opening() {
    let folder = tempfile::tempdir().unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(Sleeper).start().await.unwrap();
    let begun = t.now();
    t.client::<Sleeper>().start("r", When::After(hours(1))).await.unwrap();
    t.settle().await;
    t.shutdown(seconds(1)).await.unwrap();
    let later = begun.saturating_add(hours(48));
    let t = dex::testing::engine_in(folder.path()).now(later).flow(Sleeper).start().await.unwrap();
    let run = t.client::<Sleeper>().run("r").await.unwrap();
    run.output().await.unwrap();
    assert_eq!(run.describe().await.unwrap().closed.unwrap().at, later);
}

#[tokio::test]
async fn an_instant_in_the_past_has_come() {
    each_way(
        IN_MEMORY,
        || Sleeper,
        async |t| {
            let run = t.client().start("r", When::At(SystemTime::UNIX_EPOCH)).await.unwrap();
            run.output().await.unwrap();
            let again = t.client().start("again", When::After(Duration::ZERO)).await.unwrap();
            again.output().await.unwrap();
        },
    )
    .await;
}

#[tokio::test]
async fn the_longest_pause_ends_with_the_year_9999() {
    each_way(
        IN_MEMORY,
        || Sleeper,
        async |t| {
            t.client().start("r", When::After(Duration::MAX)).await.unwrap();
            t.advance(hours(24 * 365 * 1_000)).await;
            t.phase().await;
            let info = t.run().await.describe().await.unwrap();
            assert_eq!(info.steps[0].due, Some(Timestamp::MAX));
            assert!(info.explain().contains("9999-12-31"), "{}", info.explain());
            // And another engine's work is not in its way.
            let near = t.client().start("near", When::After(seconds(1))).await.unwrap();
            t.advance(seconds(1)).await;
            near.output().await.unwrap();
        },
    )
    .await;
}

#[tokio::test]
async fn timers_of_a_millisecond_fire_a_millisecond_apart() {
    each_way(
        IN_MEMORY,
        || Ticks,
        async |t| {
            let run = t.client().start("r", 20).await.unwrap();
            t.advance(Duration::from_millis(40)).await;
            let ticks = run.output().await.unwrap();
            assert_eq!(ticks.len(), 20);
            assert!(ticks.windows(2).all(|two| two[1] - two[0] == 1_000), "{ticks:?}");
        },
    )
    .await;
}

/// Ticks every millisecond and notes when.
struct Ticks;

#[flow(output = Vec<i64>)]
impl Ticks {
    #[attribute]
    const SEEN: Attribute<Vec<i64>>;

    #[step(start)]
    async fn begin(&self, count: usize) -> StepResult<Self> {
        Ok(Next::to(Self::TICK, (count, None)))
    }

    #[wait_for(tick)]
    fn the_next(
        &self,
        _ctx: &WaitContext<Self>,
        (_, before): &(usize, Option<i64>),
    ) -> WaitResult<Self, TimerFired> {
        let start = 1_893_456_000_000_000;
        let at = Timestamp::from_micros(before.unwrap_or(start) + 1_000);
        Ok(Wait::one(Timer::at(at.into())))
    }

    #[step]
    async fn tick(
        &self,
        ctx: &mut StepContext<Self>,
        (count, before): (usize, Option<i64>),
        _fired: TimerFired,
    ) -> StepResult<Self> {
        let at = before.unwrap_or(1_893_456_000_000_000) + 1_000;
        let mut seen = ctx.get(Self::SEEN)?.unwrap_or_default();
        seen.push(at);
        if seen.len() == count {
            return Ok(Next::complete(seen));
        }
        ctx.set(Self::SEEN, seen)?;
        Ok(Next::to(Self::TICK, (count, Some(at))))
    }
}

/// Two branches that sleep for different times, beside one that waits for a message.
struct Siblings;

#[flow(output = u64)]
impl Siblings {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::each(Self::SLEEP, [3_u64, 1, 2]).and(Self::STAND, ()))
    }

    #[wait_for(sleep)]
    fn so_many_hours(&self, _ctx: &WaitContext<Self>, count: &u64) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(hours(*count))))
    }

    #[step]
    async fn sleep(&self, count: u64, _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(count))
    }

    #[wait_for(stand)]
    fn a_message(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn stand(&self, _input: (), _go: ()) -> StepResult<Self> {
        Ok(Next::complete(0))
    }
}

#[tokio::test]
async fn the_timer_of_one_branch_fires_while_its_siblings_wait() {
    each_way(
        ALL,
        || Siblings,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            for left in [3, 2, 1] {
                t.advance(hours(1)).await;
                t.phase().await;
                assert_eq!(t.run().await.describe().await.unwrap().steps.len(), left, "{:?}", t.way);
            }
            t.run().await.publish(Siblings::GO, ()).await.unwrap();
            let outputs = t.run().await.result().await.unwrap().outputs().unwrap();
            let outputs: Vec<_> = outputs.into_iter().map(|(_, output)| output).collect();
            assert_eq!(outputs, [1, 2, 3, 0]);
        },
    )
    .await;
}

/// Gives a message a time to come in, and a shorter one after the first.
struct Shorter;

#[flow(output = String)]
impl Shorter {
    #[channel]
    const A: Channel<String>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::END, ()))
    }

    #[wait_for(end)]
    fn two_timers(&self) -> WaitResult<Self, OneOf2<(String, TimerFired), TimerFired>> {
        Ok(Wait::any((All((Self::A.one(), Timer::after(hours(1)))), Timer::after(hours(3)))))
    }

    #[step]
    async fn end(&self, _input: (), got: OneOf2<(String, TimerFired), TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }
}

#[tokio::test]
async fn a_wait_with_two_timers_goes_on_to_the_second_after_the_first() {
    each_way(
        ALL,
        || Shorter,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            t.advance(hours(2)).await;
            t.phase().await;
            let due = t.run().await.describe().await.unwrap().steps[0].due.unwrap();
            assert_eq!(due.since(t.now()), hours(1), "{:?}", t.way);
            t.advance(hours(1)).await;
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "Second(TimerFired)");
        },
    )
    .await;
}

#[tokio::test]
async fn more_timers_than_are_held_in_memory_all_fire() {
    let options = Options { timers_max: 7, idle_runs_max: 3, ..Options::default() };
    let flow = || Sleeper;
    for way in [Way::Straight, Way::Restarted, Way::OnDisk] {
        let mut t = World::new(way, &flow, options.clone()).await;
        let start = t.now();
        // Far and near ones mixed, several for one instant.
        let mut runs = Vec::new();
        for number in 0..60_u64 {
            let pause = seconds(1 + (number * 37) % 50 * 60);
            t.client().start(format!("r{number}"), When::After(pause)).await.unwrap();
            runs.push((number, pause));
        }
        t.settle().await;
        t.reopen().await;
        t.advance(hours(1)).await;
        for (number, pause) in runs {
            let run = t.client().run(format!("r{number}")).await.unwrap();
            let closed = run
                .describe()
                .await
                .unwrap()
                .closed
                .unwrap_or_else(|| panic!("{way:?}: r{number} still waits"));
            assert_eq!(closed.at.since(start), pause, "{way:?} r{number}");
        }
    }
}
