//! A flow with all that can meet a steering hand: locks, timers, children, retries, a clean-up.

use std::time::Duration;

use dex::prelude::*;
use dex::{OnExhausted, ParentEnd};
use serde::{Deserialize, Serialize};

/// What becomes of a child at its parent's end, as a number that can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fate {
    Leave,
    Cancel,
    Terminate,
}

/// A child: goes on for two minutes.
pub(super) struct Slow;

#[flow(output = u64)]
impl Slow {
    #[attribute]
    pub(super) const FATE: Attribute<Fate>;

    #[step(start)]
    async fn begin(&self, number: u64) -> StepResult<Self> {
        Ok(Next::to(Self::END, number))
    }

    #[wait_for(end)]
    fn two_minutes(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(Duration::from_mins(2))))
    }

    #[step]
    async fn end(&self, number: u64, _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(number))
    }
}

/// Takes messages, and notes each one under a lock. A message's last digit says how.
pub(super) struct Plant {
    /// Not where every transition is a crash: a handler that is called again with each of them is never silent for long.
    pub(super) hangs: bool,
}

/// The message that a handler hangs over at first is rare: a test waits to see that it does.
const HANGS_OVER: u64 = 26;

#[flow(endless)]
impl Plant {
    /// Messages that were taken.
    #[attribute]
    pub(super) const TAKEN: Attribute<Vec<u64>>;
    /// Parts that were taken.
    #[attribute]
    pub(super) const BUILT: Attribute<Vec<u64>>;
    /// Redirections of an operator that have come to where they were sent.
    #[attribute]
    pub(super) const SCRAPPED: Attribute<Vec<u64>>;
    /// Whether parts can be taken.
    #[attribute]
    pub(super) const MENDED: Attribute<bool>;
    /// Calls of `add`.
    #[attribute]
    pub(super) const ADDED: Attribute<u64>;
    /// Clean-ups.
    #[attribute]
    pub(super) const CLEANED: Attribute<u64>;
    #[channel]
    pub(super) const WORK: Channel<u64>;
    #[channel]
    pub(super) const PARTS: Channel<u64>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()).and(Self::TAKE, ()).and(Self::RING, ()))
    }

    #[wait_for(take)]
    fn work(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::WORK.one()))
    }

    #[step(lock(TAKEN), retry(attempts = 3, initial = "5s"), heartbeat = "20s", on_failure = spare)]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), number: u64) -> StepResult<Self> {
        let mut taken = ctx.get(Self::TAKEN)?.unwrap_or_default();
        taken.push(number);
        ctx.set(Self::TAKEN, taken)?;
        // Others have their turn meanwhile.
        tokio::task::yield_now().await;
        let again = Next::to(Self::TAKE, ());
        match number % 10 {
            1 => ctx.checkpoint(&number)?,
            3 => panic!("the step panics over {number} on purpose"),
            5 => return Err(StepError::fatal("never")),
            // No sign of life, and no end.
            6 if self.hangs && number % 40 == HANGS_OVER && ctx.attempt() == 1 => {
                std::future::pending::<()>().await;
            }
            7 if ctx.attempt() == 1 => return Err(StepError::new("try again")),
            8 => {
                ctx.publish(Self::PARTS, number)?;
                return Ok(again.and(Self::BUILD, number));
            }
            9 => return Ok(again.and(Self::FAMILY, number)),
            _ => {}
        }
        Ok(again)
    }

    #[wait_for(spare)]
    fn what_was_left(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::WORK.one()))
    }

    /// Takes what is next: the message that another step gave back, or one that was given back after it.
    #[step(lock(TAKEN))]
    async fn spare(&self, ctx: &mut StepContext<Self>, _input: (), number: u64) -> StepResult<Self> {
        let mut taken = ctx.get(Self::TAKEN)?.unwrap_or_default();
        taken.push(number);
        ctx.set(Self::TAKEN, taken)?;
        let again = Next::to(Self::TAKE, ());
        if number % 10 == 8 {
            ctx.publish(Self::PARTS, number)?;
            return Ok(again.and(Self::BUILD, number));
        }
        Ok(again)
    }

    #[wait_for(build)]
    fn a_part(&self, _number: &u64) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PARTS.one()))
    }

    /// Stands with a part in its hands until an operator has done something.
    #[step(lock(BUILT), on_exhausted = park)]
    async fn build(&self, ctx: &mut StepContext<Self>, _number: u64, part: u64) -> StepResult<Self> {
        let mut built = ctx.get(Self::BUILT)?.unwrap_or_default();
        built.push(part);
        ctx.set(Self::BUILT, built)?;
        if ctx.get(Self::MENDED)? != Some(true) {
            return Err(StepError::fatal("nothing can be built here"));
        }
        Ok(Next::dead_end())
    }

    /// Where an operator sends what cannot be built.
    #[step(entry, lock(SCRAPPED))]
    pub(super) async fn scrap(&self, ctx: &mut StepContext<Self>, operation: u64) -> StepResult<Self> {
        let mut scrapped = ctx.get(Self::SCRAPPED)?.unwrap_or_default();
        scrapped.push(operation);
        ctx.set(Self::SCRAPPED, scrapped)?;
        Ok(Next::dead_end())
    }

    #[wait_for(family)]
    fn a_child_or_a_while(&self, number: &u64) -> WaitResult<Self, OneOf2<ChildResult<Slow>, TimerFired>> {
        let (fate, policy) = match number % 3 {
            0 => (Fate::Leave, ParentEnd::Leave),
            1 => (Fate::Cancel, ParentEnd::Cancel),
            _ => (Fate::Terminate, ParentEnd::Terminate),
        };
        let child = SubFlow::run(*number).with(Slow::FATE, fate).on_parent_end(policy);
        Ok(Wait::any((child, Timer::after(Duration::from_secs(60 + number % 100)))))
    }

    #[step]
    async fn family(&self, _number: u64, _got: OneOf2<ChildResult<Slow>, TimerFired>) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[wait_for(ring)]
    fn half_a_minute(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(Duration::from_secs(30))))
    }

    /// Wants the lock now and then, and sometimes fails with it.
    #[step(lock(TAKEN), retry(attempts = 2, initial = "3s"))]
    async fn ring(&self, ctx: &mut StepContext<Self>, _input: (), _fired: TimerFired) -> StepResult<Self> {
        if ctx.attempt() == 1 {
            return Err(StepError::new("try again"));
        }
        let options = StepOptions::new().on_exhausted(OnExhausted::Proceed);
        Ok(Next::to_with(Self::RING, (), options))
    }

    #[on_cancel]
    async fn clean(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let cleaned = ctx.get(Self::CLEANED)?.unwrap_or_default();
        ctx.set(Self::CLEANED, cleaned + 1)?;
        Ok(Next::dead_end())
    }

    #[rpc]
    pub(super) async fn add(&self, ctx: &mut RpcContext<Self>) -> RpcResult<u64> {
        let added = ctx.get(Self::ADDED)?.unwrap_or_default() + 1;
        ctx.set(Self::ADDED, added)?;
        Ok(added)
    }

    #[rpc]
    pub(super) async fn mend(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::MENDED, true)
    }
}
