//! Rows 16 to 25: messages, timers, and waits for several of them.

use std::time::Duration;

use dex::Status;
use dex::prelude::*;

use crate::support::{ALL, IN_MEMORY, each_way, hours, seconds};

const DAY: Duration = hours(24);

/// One branch publishes to two channels for another, which would also take one of a third.
struct Fork;

#[flow(output = u32)]
impl Fork {
    #[channel]
    const FIRST: Channel<u32>;
    #[channel]
    const PARTNER: Channel<u32>;
    #[channel]
    const SECOND: Channel<u32>;

    #[step(start)]
    async fn begin(&self, input: u32) -> StepResult<Self> {
        Ok(Next::to(Self::CONSUME, input).and(Self::PUBLISH, ()))
    }

    #[wait_for(consume)]
    fn a_pair_or_the_second(&self) -> WaitResult<Self, OneOf2<(u32, u32), u32>> {
        Ok(Wait::any((All((Self::FIRST.one(), Self::PARTNER.one())), Self::SECOND.one())))
    }

    #[step]
    async fn consume(&self, input: u32, got: OneOf2<(u32, u32), u32>) -> StepResult<Self> {
        Ok(match got {
            OneOf2::First((first, 3)) => Next::complete(input + first),
            other => Next::fail(format!("{other:?}")),
        })
    }

    #[step]
    async fn publish(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        ctx.publish(Self::FIRST, 2)?;
        ctx.publish(Self::PARTNER, 3)?;
        Ok(Next::dead_end())
    }
}

/// Row 16
#[tokio::test]
async fn a_group_is_met_by_what_another_branch_publishes() {
    each_way(
        IN_MEMORY,
        || Fork,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!((result.output().unwrap(), result.unconsumed_messages()), (3, 0));
        },
    )
    .await;
}

/// Adds two numbers that are said.
struct Adds;

#[flow(output = u32)]
impl Adds {
    #[channel]
    const NUMBERS: Channel<u32>;

    #[wait_for(add)]
    fn two_numbers(&self) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::one(Self::NUMBERS.n(2)))
    }

    #[step(start)]
    async fn add(&self, input: u32, numbers: Vec<u32>) -> StepResult<Self> {
        Ok(Next::complete(input + numbers.iter().sum::<u32>()))
    }

    #[rpc]
    async fn say(&self, ctx: &mut RpcContext<Self>, number: u32) -> RpcResult<()> {
        ctx.publish(Self::NUMBERS, number)
    }
}

/// Row 17
#[tokio::test]
async fn a_wait_for_two_messages_is_met_by_two_calls() {
    each_way(
        IN_MEMORY,
        || Adds,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            t.run().await.say(2).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);
            t.run().await.say(3).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 6);
        },
    )
    .await;
}

/// Counts what is in one of its channels, until that is empty.
struct Drain;

#[flow(output = u32)]
impl Drain {
    #[attribute]
    const COUNT: Attribute<u32>;
    #[channel]
    const OUTSIDE: Channel<()>;
    #[channel]
    const INSIDE: Channel<()>;

    #[wait_for(drain)]
    fn one(&self, _ctx: &WaitContext<Self>, outside: &bool) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::chosen(*outside).one()))
    }

    #[step(start)]
    async fn drain(&self, ctx: &mut StepContext<Self>, outside: bool, _got: ()) -> StepResult<Self> {
        let count = ctx.get(Self::COUNT)?.unwrap_or_default() + 1;
        ctx.set(Self::COUNT, count)?;
        Ok(Next::complete_if_empty(Self::chosen(outside), count).or_to(Self::DRAIN, outside))
    }

    #[rpc]
    async fn fill(&self, ctx: &mut RpcContext<Self>, (outside, count): (bool, u32)) -> RpcResult<()> {
        (0..count).try_for_each(|_| ctx.publish(Self::chosen(outside), ()))
    }
}

impl Drain {
    fn chosen(outside: bool) -> Channel<Self, ()> {
        if outside { Self::OUTSIDE } else { Self::INSIDE }
    }
}

/// Three messages come at once to one of the channels.
async fn drained(outside: bool) {
    each_way(
        IN_MEMORY,
        || Drain,
        async |t| {
            t.client().start("r", outside).await.unwrap();
            t.phase().await;
            t.run().await.fill((outside, 3)).await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!((result.output().unwrap(), result.unconsumed_messages()), (3, 0), "{:?}", t.way);
        },
    )
    .await;
}

/// Row 18
#[tokio::test]
async fn a_run_that_ends_when_its_channel_is_empty_takes_all_of_it_one_by_one() {
    drained(true).await;
}

/// Row 19
// Channels for messages from outside and from inside are one kind.
#[tokio::test]
async fn it_looks_only_at_the_channel_that_it_names() {
    drained(false).await;
}

/// Waits for as many seconds as its input says.
struct Sleeper;

#[flow(output = u64)]
impl Sleeper {
    #[wait_for(sleep)]
    fn so_long(&self, _ctx: &WaitContext<Self>, length: &u64) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(*length))))
    }

    #[step(start)]
    async fn sleep(&self, length: u64, _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(length + 1))
    }
}

/// Rows 20 and 23
// On a clock of its own a test need not allow for a timer that is late.
#[tokio::test]
async fn a_timer_fires_at_its_second_and_the_end_of_its_step_is_told() {
    each_way(
        IN_MEMORY,
        || Sleeper,
        async |t| {
            let start = t.now();
            t.client().start("r", 5).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let slept = tokio::spawn(run.wait_for_step(Sleeper::SLEEP, 1).timeout(seconds(10)));
            t.advance(seconds(5)).await;
            slept.await.unwrap().unwrap();
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), 6);
            let closed = run.describe().await.unwrap().closed.unwrap();
            assert_eq!(closed.at.since(start), seconds(5), "{:?}", t.way);
        },
    )
    .await;
}

/// One branch takes what the other publishes before it does anything.
struct Early;

#[flow(output = u32)]
impl Early {
    #[channel]
    const FIRST: Channel<u32>;
    #[channel]
    const SECOND: Channel<u32>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::CONSUME, ()).and(Self::PUBLISH, 2))
    }

    #[wait_for(consume)]
    fn either(&self) -> WaitResult<Self, OneOf2<u32, u32>> {
        Ok(Wait::any((Self::FIRST.one(), Self::SECOND.one())))
    }

    #[step]
    async fn consume(&self, _input: (), got: OneOf2<u32, u32>) -> StepResult<Self> {
        Ok(match got {
            OneOf2::Second(number) => Next::complete(number),
            OneOf2::First(number) => Next::fail(format!("{number} came by the first channel")),
        })
    }

    #[wait_for(publish)]
    fn publishes(&self, ctx: &mut WaitContext<Self>, number: &u32) -> WaitResult<Self, ()> {
        ctx.publish(Self::SECOND, *number)?;
        Ok(Wait::ready(()))
    }

    #[step]
    async fn publish(&self, _number: u32, _outcome: ()) -> StepResult<Self> {
        Ok(Next::dead_end())
    }
}

/// Row 21
#[tokio::test]
async fn what_a_wait_publishes_meets_the_wait_of_another_branch() {
    each_way(
        IN_MEMORY,
        || Early,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!((result.output().unwrap(), result.unconsumed_messages()), (2, 0), "{:?}", t.way);
        },
    )
    .await;
}

/// Takes one of two messages, then the other kind together with a day.
struct Skips;

#[flow(output = u32)]
impl Skips {
    #[channel]
    const FIRST: Channel<u32>;
    #[channel]
    const SECOND: Channel<u32>;

    #[wait_for(one)]
    fn either(&self) -> WaitResult<Self, OneOf2<u32, u32>> {
        Ok(Wait::any((Self::FIRST.one(), Self::SECOND.one())))
    }

    #[step(start)]
    async fn one(&self, _input: (), got: OneOf2<u32, u32>) -> StepResult<Self> {
        Ok(match got {
            OneOf2::Second(10) => Next::to(Self::TWO, ()),
            other => Next::fail(format!("{other:?}")),
        })
    }

    #[wait_for(two)]
    fn a_message_and_a_day(&self) -> WaitResult<Self, (u32, TimerFired)> {
        Ok(Wait::all((Self::FIRST.one(), Timer::after(DAY))))
    }

    #[step]
    async fn two(&self, _input: (), (number, _fired): (u32, TimerFired)) -> StepResult<Self> {
        Ok(Next::complete(number))
    }

    #[rpc]
    async fn say(&self, ctx: &mut RpcContext<Self>, (first, number): (bool, u32)) -> RpcResult<()> {
        ctx.publish(if first { Self::FIRST } else { Self::SECOND }, number)
    }
}

/// Row 22
// A timer is named by the execution that waits for it: the next one there is fires.
#[tokio::test]
async fn a_timer_that_is_skipped_counts_as_fired_in_a_wait_for_all() {
    each_way(
        ALL,
        || Skips,
        async |t| {
            let start = t.now();
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            t.run().await.say((false, 10)).await.unwrap();
            t.run().await.wait_for_step(Skips::ONE, 1).timeout(seconds(20)).await.unwrap();
            t.phase().await;
            t.run().await.say((true, 100)).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running, "half is not all");
            t.run().await.skip_timer("two-1").await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 100);
            assert_eq!(t.now(), start);
            assert!(t.client().run("nobody").await.unwrap_err().is_not_found());
        },
    )
    .await;
}

/// Takes one of two messages, and then needs four things at once.
struct Combination;

#[flow(output = u32)]
impl Combination {
    #[channel]
    const FIRST: Channel<u32>;
    #[channel]
    const SECOND: Channel<u32>;
    #[channel]
    const THIRD: Channel<()>;
    #[channel]
    const FOURTH: Channel<u32>;

    #[wait_for(one)]
    fn either(&self) -> WaitResult<Self, OneOf2<u32, u32>> {
        Ok(Wait::any((Self::FIRST.one(), Self::SECOND.one())))
    }

    #[step(start)]
    async fn one(&self, input: u32, got: OneOf2<u32, u32>) -> StepResult<Self> {
        Ok(match got {
            OneOf2::First(number) => Next::to(Self::FOUR, input + number),
            OneOf2::Second(number) => Next::fail(format!("{number} came by the second channel")),
        })
    }

    #[wait_for(four)]
    fn all_four(&self) -> WaitResult<Self, (u32, (), u32, TimerFired)> {
        let year = Timer::after(365 * DAY);
        Ok(Wait::all((Self::FIRST.one(), Self::THIRD.one(), Self::FOURTH.one(), year)))
    }

    #[step]
    async fn four(&self, sum: u32, got: (u32, (), u32, TimerFired)) -> StepResult<Self> {
        let (first, (), _fourth, _fired) = got;
        Ok(Next::complete(sum + first))
    }
}

/// Row 24
#[tokio::test]
async fn a_combination_takes_one_of_each_kind_and_leaves_the_rest() {
    each_way(
        ALL,
        || Combination,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            for number in [2, 3, 5] {
                t.run().await.publish(Combination::FIRST, number).await.unwrap();
                t.phase().await;
            }
            t.run().await.publish(Combination::THIRD, ()).await.unwrap();
            t.run().await.publish(Combination::FOURTH, 4).await.unwrap();
            t.phase().await;
            t.run().await.skip_timer("four-1").await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!(result.output().unwrap(), 6, "{:?}", t.way);
            assert_eq!(t.run().await.messages(Combination::FIRST).await.unwrap(), [5]);
            assert_eq!(result.unconsumed_messages(), 1);
        },
    )
    .await;
}
