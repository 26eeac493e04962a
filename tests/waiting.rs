//! What waits take, and what steps are given for it.
#![cfg(test)]

mod support;

use std::time::SystemTime;

use dex::prelude::*;
use serde::{Deserialize, Serialize};
use support::{IN_MEMORY, each_way, hours, seconds};

/// What the step with nested groups is given.
type Groups = OneOf2<(String, u32), (Vec<u32>, TimerFired)>;

/// A wait of [`Waiting`].
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Kind {
    AnyChannel,
    AnyOrTimer,
    TimerOrAny,
    Both,
    TwoOfOne,
    Groups,
    Exactly(usize),
    AtLeast(usize),
    UpTo(usize),
    Between(usize, usize),
    Ready,
    Local,
    List,
    ListOfAll,
    NoneOf,
}

/// Waits as its input says and completes with the outcome, as text.
struct Waiting;

#[flow(output = String)]
impl Waiting {
    #[channel]
    const A: Channel<String>;
    #[channel]
    const B: Channel<u32>;

    #[step(start)]
    async fn begin(&self, kind: Kind) -> StepResult<Self> {
        Ok(match kind {
            Kind::AnyChannel => Next::to(Self::ANY_CHANNEL, ()),
            Kind::AnyOrTimer => Next::to(Self::ANY_OR_TIMER, ()),
            Kind::TimerOrAny => Next::to(Self::TIMER_OR_ANY, ()),
            Kind::Both => Next::to(Self::BOTH, ()),
            Kind::TwoOfOne => Next::to(Self::TWO_OF_ONE, ()),
            Kind::Groups => Next::to(Self::GROUPS, ()),
            Kind::Exactly(_) | Kind::AtLeast(_) | Kind::UpTo(_) | Kind::Between(..) => {
                Next::to(Self::SEVERAL, kind)
            }
            Kind::Ready => Next::to(Self::READY, ()),
            Kind::Local => Next::to(Self::LOCAL, 7),
            Kind::List => Next::to(Self::LIST, ()),
            Kind::ListOfAll => Next::to(Self::LIST_OF_ALL, 2),
            Kind::NoneOf => Next::to(Self::LIST_OF_ALL, 0),
        })
    }

    #[wait_for(any_channel)]
    fn either(&self) -> WaitResult<Self, OneOf2<String, u32>> {
        Ok(Wait::any((Self::A.one(), Self::B.one())))
    }

    #[step]
    async fn any_channel(&self, _i: (), got: OneOf2<String, u32>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(any_or_timer)]
    fn message_first(&self) -> WaitResult<Self, OneOf2<String, TimerFired>> {
        Ok(Wait::any((Self::A.one(), Timer::after(hours(1)))))
    }

    #[step]
    async fn any_or_timer(&self, _i: (), got: OneOf2<String, TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(timer_or_any)]
    fn timer_first(&self) -> WaitResult<Self, OneOf2<TimerFired, String>> {
        Ok(Wait::any((Timer::after(hours(1)), Self::A.one())))
    }

    #[step]
    async fn timer_or_any(&self, _i: (), got: OneOf2<TimerFired, String>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(both)]
    fn both_channels(&self) -> WaitResult<Self, (String, u32)> {
        Ok(Wait::all((Self::A.one(), Self::B.one())))
    }

    #[step]
    async fn both(&self, _i: (), got: (String, u32)) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(two_of_one)]
    fn one_channel_twice(&self) -> WaitResult<Self, (String, Vec<String>)> {
        Ok(Wait::all((Self::A.one(), Self::A.n(2))))
    }

    #[step]
    async fn two_of_one(&self, _i: (), got: (String, Vec<String>)) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(groups)]
    fn or_of_ands(&self) -> WaitResult<Self, Groups> {
        let second = All((Self::B.n(2), Timer::after(hours(1))));
        Ok(Wait::any((All((Self::A.one(), Self::B.one())), second)))
    }

    #[step]
    async fn groups(&self, _i: (), got: Groups) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(several)]
    fn so_many(&self, _ctx: &WaitContext<Self>, kind: &Kind) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::one(match kind {
            Kind::Exactly(count) => Self::B.n(*count),
            Kind::AtLeast(count) => Self::B.at_least(*count),
            Kind::UpTo(count) => Self::B.up_to(*count),
            Kind::Between(min, max) => Self::B.between(*min, *max),
            _ => return Err(StepError::fatal("not a count")),
        }))
    }

    #[step]
    async fn several(&self, _kind: Kind, got: Vec<u32>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(ready)]
    fn nothing(&self) -> WaitResult<Self, u32> {
        Ok(Wait::ready(5))
    }

    #[step]
    async fn ready(&self, _i: (), got: u32) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(local)]
    fn with_a_value(&self, ctx: &WaitContext<Self>, input: &u32) -> WaitResult<Self, (u32, String)> {
        Ok(Wait::one(Self::B.one()).with(format!("{input} at attempt {}", ctx.attempt())))
    }

    #[step]
    async fn local(&self, _i: u32, got: (u32, String)) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(list)]
    fn any_of_a_list(&self) -> WaitResult<Self, (usize, Vec<u32>)> {
        Ok(Wait::any(vec![Self::B.n(3), Self::B.n(2)]))
    }

    #[step]
    async fn list(&self, _i: (), got: (usize, Vec<u32>)) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }

    #[wait_for(list_of_all)]
    fn all_of_a_list(&self, _ctx: &WaitContext<Self>, count: &usize) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::all((0..*count).map(|_| Self::B.one()).collect::<Vec<_>>()))
    }

    #[step]
    async fn list_of_all(&self, _i: usize, got: Vec<u32>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }
}

/// What happens to a run that waits.
#[derive(Clone, Copy)]
enum Happens {
    A(&'static str),
    B(u32),
    Hour,
    /// Nothing is over yet.
    StillWaits,
}
use Happens::{A, B, Hour, StillWaits};

async fn check(kind: Kind, happens: &[Happens], outcome: &str, unconsumed: u64) {
    each_way(
        IN_MEMORY,
        || Waiting,
        async |t| {
            t.client().start("r", kind.clone()).await.unwrap();
            t.phase().await;
            for happens in happens {
                let run = t.run().await;
                match happens {
                    A(message) => run.publish(Waiting::A, (*message).into()).await.unwrap(),
                    B(message) => run.publish(Waiting::B, *message).await.unwrap(),
                    Hour => t.advance(hours(1)).await,
                    StillWaits => {
                        t.settle().await;
                        assert!(!run.describe().await.unwrap().status.is_closed(), "{kind:?} in {:?}", t.way);
                    }
                }
                t.reopen().await;
            }
            let result = t.run().await.result().await.unwrap();
            assert_eq!(result.output().unwrap(), outcome, "{kind:?} in {:?}", t.way);
            assert_eq!(result.unconsumed_messages(), unconsumed, "{kind:?} in {:?}", t.way);
        },
    )
    .await;
}

#[tokio::test]
async fn any_gives_the_alternative_that_came() {
    check(Kind::AnyChannel, &[StillWaits, A("x")], r#"First("x")"#, 0).await;
    check(Kind::AnyChannel, &[B(3)], "Second(3)", 0).await;
}

#[tokio::test]
async fn any_of_a_message_and_a_timer_gives_what_came_first() {
    check(Kind::AnyOrTimer, &[A("x")], r#"First("x")"#, 0).await;
    check(Kind::AnyOrTimer, &[StillWaits, Hour], "Second(TimerFired)", 0).await;
    check(Kind::TimerOrAny, &[A("x")], r#"Second("x")"#, 0).await;
}

#[tokio::test]
async fn all_waits_for_every_part_in_any_order() {
    check(Kind::Both, &[B(1), StillWaits, A("x")], r#"("x", 1)"#, 0).await;
    check(Kind::Both, &[A("x"), StillWaits, B(1)], r#"("x", 1)"#, 0).await;
}

#[tokio::test]
async fn conditions_of_all_on_one_channel_add_up() {
    check(Kind::TwoOfOne, &[A("x"), A("y"), StillWaits, A("z")], r#"("x", ["y", "z"])"#, 0).await;
}

#[tokio::test]
async fn groups_nest() {
    check(Kind::Groups, &[B(1), B(2), StillWaits, Hour], "Second(([1, 2], TimerFired))", 0).await;
    check(Kind::Groups, &[B(1), B(2), A("x")], r#"First(("x", 1))"#, 1).await;
    check(Kind::Groups, &[Hour, B(1), StillWaits, B(2)], "Second(([1, 2], TimerFired))", 0).await;
}

#[tokio::test]
async fn a_count_takes_exactly_so_many() {
    check(Kind::Exactly(2), &[B(1), StillWaits, B(2)], "[1, 2]", 0).await;
    check(Kind::Exactly(0), &[], "[]", 0).await;
}

#[tokio::test]
async fn at_least_takes_all_there_are_once_there_are_enough() {
    check(Kind::AtLeast(2), &[B(1), StillWaits, B(2)], "[1, 2]", 0).await;
}

#[tokio::test]
async fn up_to_takes_what_there_is_at_once() {
    check(Kind::UpTo(3), &[], "[]", 0).await;
}

#[tokio::test]
async fn between_takes_what_there_is_up_to_its_most_once_there_are_enough() {
    check(Kind::Between(2, 3), &[B(1), StillWaits, B(2)], "[1, 2]", 0).await;
    check(Kind::Between(0, 2), &[], "[]", 0).await;
    check(Kind::Between(1, 1), &[StillWaits, B(1)], "[1]", 0).await;
}

#[tokio::test]
async fn between_leaves_what_is_above_its_most() {
    each_way(
        IN_MEMORY,
        || Waiting,
        async |t| {
            let start = t.client().start("r", Kind::Between(2, 3));
            (1..=5).fold(start, |start, number| start.publish(Waiting::B, number)).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "[1, 2, 3]");
            assert_eq!(t.run().await.messages(Waiting::B).await.unwrap(), [4, 5]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_wait_between_a_least_above_its_most_parks_the_step() {
    each_way(
        IN_MEMORY,
        || Waiting,
        async |t| {
            t.client().start("r", Kind::Between(3, 2)).await.unwrap();
            t.phase().await;
            let explained = t.run().await.describe().await.unwrap().explain();
            assert!(explained.contains("several-1 is parked"), "{explained}");
            assert!(explained.contains("at least 3 and at most 2 messages"), "{explained}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_wait_for_nothing_goes_on_at_once() {
    check(Kind::Ready, &[], "5", 0).await;
}

#[tokio::test]
async fn a_value_that_the_wait_computed_comes_with_the_outcome() {
    check(Kind::Local, &[StillWaits, B(9)], r#"(9, "7 at attempt 1")"#, 0).await;
}

#[tokio::test]
async fn lists_of_conditions_give_place_and_value_or_all_values() {
    check(Kind::List, &[B(1), StillWaits, B(2)], "(1, [1, 2])", 0).await;
    check(Kind::ListOfAll, &[B(1), StillWaits, B(2)], "[1, 2]", 0).await;
}

#[tokio::test]
async fn a_wait_for_an_empty_list_parks_the_step() {
    each_way(
        IN_MEMORY,
        || Waiting,
        async |t| {
            t.client().start("r", Kind::NoneOf).await.unwrap();
            t.phase().await;
            let explained = t.run().await.describe().await.unwrap().explain();
            assert!(explained.contains("list_of_all-1 is parked"), "{explained}");
            assert!(explained.contains("no conditions"), "{explained}");
        },
    )
    .await;
}

/// Two alternatives that are there at the same moment.
struct Ties;

#[flow(output = String)]
impl Ties {
    #[channel]
    const A: Channel<String>;
    #[channel]
    const B: Channel<String>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        ctx.publish(Self::B, "b".into())?;
        ctx.publish(Self::A, "a".into())?;
        Ok(Next::to(Self::END, ()))
    }

    #[wait_for(end)]
    fn all_have_come(&self) -> WaitResult<Self, OneOf3<String, String, TimerFired>> {
        Ok(Wait::any((Self::A.one(), Self::B.one(), Timer::at(SystemTime::UNIX_EPOCH))))
    }

    #[step]
    async fn end(&self, _input: (), got: OneOf3<String, String, TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(format!("{got:?}")))
    }
}

#[tokio::test]
async fn a_tie_goes_to_the_alternative_that_was_written_first_and_only_it_takes_messages() {
    each_way(
        IN_MEMORY,
        || Ties,
        async |t| {
            let run = t.client().start("r", ()).await.unwrap();
            let result = run.result().await.unwrap();
            assert_eq!(result.output().unwrap(), r#"First("a")"#);
            assert_eq!(result.unconsumed_messages(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn a_run_that_waits_says_for_what_and_until_when() {
    let t = support::engine(Waiting).await;
    let run = t.client::<Waiting>().start("r", Kind::AnyOrTimer).await.unwrap();
    t.settle().await;
    t.advance(seconds(1)).await;
    let explained = run.describe().await.unwrap().explain();
    let expected = "any_or_timer-1 waits since 2030-01-01T00:00:00.000000Z \
                    for a message of A or 2030-01-01T01:00:00.000000Z";
    assert_eq!(explained, expected);
}
