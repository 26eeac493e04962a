//! A flow that does a little of everything, driven by the messages that it gets.

use std::time::Duration;

use dex::prelude::*;
use serde::{Deserialize, Serialize};

/// What a run says it has done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Messages taken from the first channel, in order.
    pub(crate) first: Vec<u64>,
    /// Messages taken from the second channel, in order.
    pub(crate) second: Vec<u64>,
    /// Messages that the run sent to itself.
    pub(crate) echoes: u64,
    /// Calls of `add`.
    pub(crate) added: u64,
    /// What helpers gave, in order.
    pub(crate) helped: Vec<u64>,
    /// Timers that fired.
    pub(crate) ticks: u64,
}

/// A child of [`Machine`]: gives its number back.
pub(crate) struct Helper;

#[flow(output = u64)]
impl Helper {
    #[step(start)]
    async fn help(&self, number: u64) -> StepResult<Self> {
        Ok(Next::complete(number))
    }
}

type Helpers = (ChildResult<Helper>, ChildResult<Helper>);

/// Takes messages one after another. A message's last digit says what the step does about it.
pub(crate) struct Machine;

/// What the run sends to itself is told by this.
const ECHO: u64 = 1_000_000;

type Taken = OneOf3<u64, Vec<u64>, TimerFired>;

#[flow(output = u64)]
impl Machine {
    #[attribute]
    const REPORT: Attribute<Report>;
    /// Apart from what steps write: a step that runs meanwhile would put back what it saw.
    #[attribute]
    const ADDED: Attribute<u64>;
    #[channel]
    pub(crate) const FIRST: Channel<u64>;
    #[channel]
    pub(crate) const SECOND: Channel<u64>;

    #[step(start)]
    async fn begin(&self, _input: u64) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, 0))
    }

    #[wait_for(take)]
    fn something(&self, _ctx: &WaitContext<Self>, _turn: &u64) -> WaitResult<Self, Taken> {
        Ok(Wait::any((Self::FIRST.one(), Self::SECOND.n(2), Timer::after(Duration::from_mins(1)))))
    }

    #[step(retry(attempts = 3, initial = "5s", max_interval = "5s"), on_failure = recover)]
    async fn take(&self, ctx: &mut StepContext<Self>, turn: u64, taken: Taken) -> StepResult<Self> {
        let mut report = ctx.get(Self::REPORT)?.unwrap_or_default();
        let (mut echo, mut helper) = (None, None);
        match taken {
            OneOf3::First(number) => {
                report.first.push(number);
                match number % 10 {
                    // Fails at first, after it has written.
                    7 if ctx.attempt() == 1 => {
                        ctx.set(Self::REPORT, report)?;
                        ctx.publish(Self::SECOND, 3 * ECHO)?;
                        return Err(StepError::new("try again"));
                    }
                    // Fails for good: the message goes back, and the recovery takes it.
                    5 => return Err(StepError::fatal("never")),
                    3 => panic!("the step panics over {number} on purpose"),
                    1 => echo = Some(ECHO + number),
                    9 => helper = Some(number),
                    _ => {}
                }
            }
            OneOf3::Second(numbers) => report.second.extend(numbers),
            OneOf3::Third(TimerFired) => report.ticks += 1,
        }
        if let Some(echo) = echo {
            report.echoes += 1;
            ctx.publish(Self::SECOND, echo)?;
        }
        let ends = report.first.last().is_some_and(|number| number % 50 == 0);
        ctx.set(Self::REPORT, report)?;
        Ok(match helper {
            Some(number) => Next::to(Self::HELPED, (turn + 1, number)),
            None if ends => Next::complete(turn),
            None => Next::to(Self::TAKE, turn + 1),
        })
    }

    #[wait_for(helped)]
    fn two_helpers(&self, _ctx: &WaitContext<Self>, (_, number): &(u64, u64)) -> WaitResult<Self, Helpers> {
        Ok(Wait::all((SubFlow::run(*number), SubFlow::run(number + 1))))
    }

    #[step(retry(initial = "5s"))]
    async fn helped(
        &self,
        ctx: &mut StepContext<Self>,
        (turn, number): (u64, u64),
        (one, two): Helpers,
    ) -> StepResult<Self> {
        if number % 20 == 9 && ctx.attempt() == 1 {
            return Err(StepError::new("try again"));
        }
        let mut report = ctx.get(Self::REPORT)?.unwrap_or_default();
        report.helped.extend([one.into_result()?, two.into_result()?]);
        ctx.set(Self::REPORT, report)?;
        Ok(Next::to(Self::TAKE, turn))
    }

    #[wait_for(recover)]
    fn what_the_other_could_not_take(&self, _ctx: &WaitContext<Self>, _turn: &u64) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::FIRST.one()))
    }

    #[step]
    async fn recover(&self, ctx: &mut StepContext<Self>, turn: u64, number: u64) -> StepResult<Self> {
        let mut report = ctx.get(Self::REPORT)?.unwrap_or_default();
        report.first.push(number);
        ctx.set(Self::REPORT, report)?;
        Ok(Next::to(Self::TAKE, turn + 1))
    }

    #[rpc]
    pub(crate) async fn add(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        let added = ctx.get(Self::ADDED)?.unwrap_or_default();
        ctx.set(Self::ADDED, added + 1)
    }

    #[rpc]
    pub(crate) async fn report(&self, ctx: &RpcContext<Self>) -> RpcResult<Report> {
        let report = ctx.get(Self::REPORT)?.unwrap_or_default();
        Ok(Report { added: ctx.get(Self::ADDED)?.unwrap_or_default(), ..report })
    }
}
