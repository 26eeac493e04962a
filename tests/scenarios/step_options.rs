//! Rows 12 and 36 to 41: options of movements, locks and recovery.

use dex::prelude::*;
use dex::{Closing, StepOptions};

use crate::support::{ALL, IN_MEMORY, each_way, seconds};

/// Three steps that lock different attributes.
struct Locks;

#[flow(output = String)]
impl Locks {
    #[attribute]
    const A: Attribute<u32>;
    #[attribute]
    const B: Attribute<u32>;
    #[attribute]
    const C: Attribute<u32>;

    #[step(start)]
    async fn first(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::A, 1)?;
        ctx.set(Self::B, 2)?;
        ctx.set(Self::C, 3)?;
        Ok(Next::to(Self::SECOND, ()))
    }

    #[wait_for(second)]
    fn sees_a(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, Option<u32>> {
        Ok(Wait::ready(ctx.get(Self::A)?))
    }

    #[step(lock(A, B))]
    async fn second(&self, ctx: &mut StepContext<Self>, _input: (), a: Option<u32>) -> StepResult<Self> {
        let seen = (a, ctx.get(Self::A)?, ctx.get(Self::B)?, ctx.get(Self::C)?);
        if seen != (Some(1), Some(1), Some(2), Some(3)) {
            return Ok(Next::fail(format!("{seen:?}")));
        }
        Ok(Next::to(Self::THIRD, ()))
    }

    #[step(lock(C))]
    async fn third(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::C, 4)?;
        Ok(Next::complete("success".into()))
    }
}

/// Row 36
#[tokio::test]
async fn steps_with_locks_of_their_own_see_all_attributes() {
    each_way(
        IN_MEMORY,
        || Locks,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "success");
            assert_eq!(t.run().await.get(Locks::C).await.unwrap(), Some(4));
        },
    )
    .await;
}

/// Many branches add one to two attributes that they lock, and are counted by their messages.
struct Tally;

#[flow(output = String)]
impl Tally {
    #[attribute]
    const A: Attribute<usize>;
    #[attribute]
    const B: Attribute<usize>;
    #[channel]
    const DONE: Channel<()>;

    #[step(start)]
    async fn begin(&self, count: usize) -> StepResult<Self> {
        Ok(Next::each(Self::ADD, vec![(); count]).and(Self::END, count))
    }

    #[step(lock(A, B))]
    async fn add(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let (a, b) = (ctx.get(Self::A)?.unwrap_or_default(), ctx.get(Self::B)?.unwrap_or_default());
        ctx.set(Self::A, a + 1)?;
        // Others get their turn between the look and the commit.
        tokio::task::yield_now().await;
        ctx.set(Self::B, b + 1)?;
        ctx.publish(Self::DONE, ())?;
        Ok(Next::dead_end())
    }

    #[wait_for(end)]
    fn all(&self, _ctx: &WaitContext<Self>, count: &usize) -> WaitResult<Self, Vec<()>> {
        Ok(Wait::one(Self::DONE.n(*count)))
    }

    #[step]
    async fn end(&self, ctx: &mut StepContext<Self>, _count: usize, _done: Vec<()>) -> StepResult<Self> {
        Ok(Next::complete(format!("{:?}:{:?}", ctx.get(Self::A)?, ctx.get(Self::B)?)))
    }
}

/// Row 37
// Locks are those of the step; its wait is short and has none.
#[tokio::test]
async fn of_twenty_branches_under_one_lock_no_increment_is_lost() {
    each_way(
        ALL,
        || Tally,
        async |t| {
            t.client().start("r", 20).await.unwrap();
            t.reopen().await;
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "Some(20):Some(20)", "{:?}", t.way);
        },
    )
    .await;
}

/// Two steps that always fail, one with a wait and one without, which recover into one another's start.
struct Recovers;

#[flow(output = u32)]
impl Recovers {
    #[step(start)]
    async fn begin(&self, (wait, number): (bool, u32)) -> StepResult<Self> {
        let input = (wait, number);
        Ok(if wait { Next::to(Self::FAILS_AFTER_A_WAIT, input) } else { Next::to(Self::FAILS, input) })
    }

    #[wait_for(fails_after_a_wait)]
    fn no_wait(&self) -> WaitResult<Self, ()> {
        Ok(Wait::ready(()))
    }

    #[step(retry(attempts = 1), on_failure = recover)]
    async fn fails_after_a_wait(&self, _input: (bool, u32), _outcome: ()) -> StepResult<Self> {
        Err(StepError::new("always"))
    }

    #[step(retry(attempts = 1), on_failure = recover)]
    async fn fails(&self, _input: (bool, u32)) -> StepResult<Self> {
        Err(StepError::new("always"))
    }

    #[step]
    async fn recover(&self, (wait, number): (bool, u32)) -> StepResult<Self> {
        Ok(match number {
            10 => Next::complete(number),
            5 => Next::to(Self::BEGIN, (wait, 10)),
            other => Next::fail(format!("recovered with {other}")),
        })
    }
}

/// Starts at 5, fails, recovers into a second failure with 10, and recovers into the end.
async fn recovered_twice(wait: bool) {
    each_way(
        IN_MEMORY,
        || Recovers,
        async |t| {
            t.client().start("r", (wait, 5)).await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!(result.outputs().unwrap(), [("recover-2".to_owned(), 10)], "{:?}", t.way);
        },
    )
    .await;
}

/// Row 39
#[tokio::test]
async fn a_recovery_step_may_lead_to_the_step_that_failed() {
    recovered_twice(true).await;
}

/// Row 40
#[tokio::test]
async fn so_it_may_if_that_step_waits_for_nothing() {
    recovered_twice(false).await;
}

/// Fails with a text for an input, and gives the text back in its recovery.
struct Mends;

#[flow(output = String)]
impl Mends {
    #[step(start, retry(attempts = 1), on_failure = mend)]
    async fn fail(&self, _text: String) -> StepResult<Self> {
        Err(StepError::new("always"))
    }

    #[step]
    async fn mend(&self, text: String) -> StepResult<Self> {
        Ok(Next::complete(text))
    }
}

/// Row 41
#[tokio::test]
async fn a_recovery_step_gets_the_input_of_the_step_that_failed() {
    each_way(
        IN_MEMORY,
        || Mends,
        async |t| {
            t.client().start("r", "a text".into()).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "a text");
        },
    )
    .await;
}

/// A step that always fails, and movements to it with options and without.
struct Overrides;

#[flow(output = String)]
impl Overrides {
    #[step(start)]
    async fn begin(&self, (number, attempts): (u32, u32)) -> StepResult<Self> {
        let options = StepOptions::new().attempts(attempts).on_failure(Self::AGAIN);
        Ok(Next::to_with(Self::FAIL, number, options))
    }

    #[wait_for(fail)]
    fn never(&self, _ctx: &WaitContext<Self>, number: &u32) -> WaitResult<Self, ()> {
        Err(StepError::new(format!("no luck with {number}")))
    }

    #[step(retry(attempts = 2, initial = "10s", max_interval = "10s"))]
    async fn fail(&self, _number: u32, _never: ()) -> StepResult<Self> {
        Ok(Next::fail("its wait has let it through"))
    }

    #[step(entry)]
    async fn again(&self, ctx: &mut StepContext<Self>, number: u32) -> StepResult<Self> {
        let Some(recovery) = ctx.recovery() else { return Ok(Next::fail("there is nothing to recover")) };
        match number {
            1 => Ok(Next::to(Self::FAIL, 2)),
            _ => Ok(Next::complete(format!("{} after {}", recovery.failure.message, recovery.attempts))),
        }
    }
}

/// Row 12
#[tokio::test]
async fn options_of_one_movement_leave_those_of_the_step_as_they_are() {
    each_way(
        IN_MEMORY,
        || Overrides,
        async |t| {
            t.client().start("r", (1, 1)).await.unwrap();
            t.phase().await;
            // The second time the step's own two attempts count, and nothing recovers it.
            t.advance(seconds(11)).await;
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            let Closing::StepFailed { step, failure, .. } = result.closing() else { panic!("{result:?}") };
            assert_eq!((step.as_str(), failure.message.as_str()), ("fail", "no luck with 2"), "{:?}", t.way);
        },
    )
    .await;
}

/// Row 38
// A wait whose attempts are used up leads to a recovery step, or ends its branch: its step is not called with a flag.
#[tokio::test]
async fn a_movement_changes_the_options_that_it_names() {
    each_way(
        IN_MEMORY,
        || Overrides,
        async |t| {
            t.client().start("r", (7, 3)).await.unwrap();
            for _ in 0..2 {
                t.phase().await;
                // The pauses stay those of the step: ten seconds, spread by a tenth.
                let step = t.run().await.describe().await.unwrap().steps.remove(0);
                let pause = step.due.unwrap().since(t.now());
                assert!(pause >= seconds(9) && pause <= seconds(11), "{:?}: {pause:?}", t.way);
                t.advance(pause).await;
            }
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), "no luck with 7 after 3", "{:?}", t.way);
        },
    )
    .await;
}
