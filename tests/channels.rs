//! Messages: kept in order, taken once, given back on failure, never lost.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{ErrorKind, Options, Status};
use support::{ALL, Counter, IN_MEMORY, Way, World, each_way, hours};

/// Takes numbered messages one by one and checks that each is the next.
struct InOrder;

#[flow(output = u32)]
impl InOrder {
    #[channel]
    const NUMBERS: Channel<u32>;

    #[step(start)]
    async fn begin(&self, last: u32) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, (1, last)))
    }

    #[wait_for(take)]
    fn one(&self) -> WaitResult<Self, u32> {
        Ok(Wait::one(Self::NUMBERS.one()))
    }

    #[step]
    async fn take(&self, (expected, last): (u32, u32), got: u32) -> StepResult<Self> {
        if got != expected {
            return Ok(Next::fail(format!("expected {expected}, got {got}")));
        }
        if got == last {
            return Ok(Next::complete(got));
        }
        Ok(Next::to(Self::TAKE, (expected + 1, last)))
    }
}

/// Takes three messages, fails, and hands them to its recovery.
struct GivesBack;

#[flow(output = Vec<u32>)]
impl GivesBack {
    #[channel]
    const NUMBERS: Channel<u32>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn three(&self) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::one(Self::NUMBERS.n(3)))
    }

    #[step(retry(attempts = 2, initial = "1h", max_interval = "1h"), on_failure = again)]
    async fn take(&self, _input: (), got: Vec<u32>) -> StepResult<Self> {
        Err(StepError::new(format!("cannot use {got:?}")))
    }

    #[wait_for(again)]
    fn all_of_them(&self) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::one(Self::NUMBERS.n(4)))
    }

    #[step]
    async fn again(&self, _input: (), got: Vec<u32>) -> StepResult<Self> {
        Ok(Next::complete(got))
    }
}

/// Waits before it takes anything, so that messages come before anyone waits.
struct Late {
    attempts: Counter,
}

#[flow(output = String)]
impl Late {
    #[channel]
    const MESSAGES: Channel<String>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::PAUSE, ()))
    }

    #[wait_for(pause)]
    fn an_hour(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(hours(1))))
    }

    #[step]
    async fn pause(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn a_message(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::MESSAGES.one()))
    }

    #[step]
    async fn take(&self, _input: (), message: String) -> StepResult<Self> {
        self.attempts.add();
        Ok(Next::complete(message))
    }
}

fn late() -> Late {
    Late { attempts: Counter::default() }
}

#[tokio::test]
async fn a_message_that_comes_before_anyone_waits_is_there_for_the_wait() {
    each_way(ALL, late, async |t| {
        t.client().start("r", ()).await.unwrap();
        t.phase().await;
        t.run().await.publish(Late::MESSAGES, "early".into()).await.unwrap();
        t.phase().await;
        let info = t.run().await.describe().await.unwrap();
        assert_eq!((info.channels[0].waiting, info.channels[0].reserved), (1, 0));
        t.advance(hours(1)).await;
        assert_eq!(t.run().await.output().await.unwrap(), "early");
        // What was consumed does not count as left over.
        assert_eq!(t.run().await.result().await.unwrap().unconsumed_messages(), 0);
    })
    .await;
}

#[tokio::test]
async fn messages_that_nobody_took_are_counted_in_the_result() {
    each_way(IN_MEMORY, late, async |t| {
        let run = t.client().start("r", ()).await.unwrap();
        for message in ["one", "two", "three"] {
            run.publish(Late::MESSAGES, message.into()).await.unwrap();
        }
        t.advance(hours(1)).await;
        let result = run.result().await.unwrap();
        assert_eq!((result.output().unwrap().as_str(), result.unconsumed_messages()), ("one", 2));
    })
    .await;
}

#[tokio::test]
async fn messages_of_a_step_that_fails_for_good_go_back_to_the_front_in_order() {
    each_way(
        ALL,
        || GivesBack,
        async |t| {
            let run = t.client().start("r", ()).await.unwrap();
            t.settle().await;
            for number in 1..=4 {
                run.publish(GivesBack::NUMBERS, number).await.unwrap();
            }
            t.phase().await;
            // Between the attempts they are reserved: nobody else gets them.
            let info = t.run().await.describe().await.unwrap();
            assert_eq!((info.channels[0].waiting, info.channels[0].reserved), (1, 3));
            t.advance(hours(2)).await;
            assert_eq!(t.run().await.output().await.unwrap(), [1, 2, 3, 4]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_thousand_numbered_messages_come_in_order_each_once() {
    for (way, messages) in [(Way::Straight, 1_000), (Way::Crashing, 300), (Way::OnDisk, 200)] {
        let flow = || InOrder;
        let mut t = World::new(way, &flow, Options::default()).await;
        t.client().start("r", messages).await.unwrap();
        for number in 1..=messages {
            if number % 50 == 0 {
                t.reopen().await;
            }
            t.run().await.publish(InOrder::NUMBERS, number).await.unwrap();
        }
        assert_eq!(t.run().await.output().await.unwrap(), messages, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn messages_of_many_callers_at_once_are_all_taken() {
    let t = dex::testing::engine().flow(Sums).start().await.unwrap();
    let run = t.client::<Sums>().start("r", 400).await.unwrap();
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let run = run.clone();
            tokio::spawn(async move {
                for number in 1..=20 {
                    run.publish(Sums::NUMBERS, number).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(run.output().await.unwrap(), 20 * 210);
}

/// Adds up a number of messages.
struct Sums;

#[flow(output = u64)]
impl Sums {
    #[channel]
    const NUMBERS: Channel<u64>;

    #[step(start)]
    async fn begin(&self, count: usize) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, (count, 0)))
    }

    #[wait_for(take)]
    fn what_there_is(&self) -> WaitResult<Self, Vec<u64>> {
        Ok(Wait::one(Self::NUMBERS.at_least(1)))
    }

    #[step]
    async fn take(&self, (left, sum): (usize, u64), got: Vec<u64>) -> StepResult<Self> {
        let (left, sum) = (left - got.len(), sum + got.iter().sum::<u64>());
        if left == 0 {
            return Ok(Next::complete(sum));
        }
        Ok(Next::to(Self::TAKE, (left, sum)))
    }
}

#[tokio::test]
async fn a_message_to_a_run_that_has_ended_is_refused_with_its_end() {
    each_way(IN_MEMORY, late, async |t| {
        let run = t.client().start("r", ()).await.unwrap();
        run.cancel().await.unwrap();
        t.phase().await;
        let error = t.run().await.publish(Late::MESSAGES, "late".into()).await.err().unwrap();
        assert!(error.is_closed(), "{error:?}");
        assert_eq!(error.existing_run(), Some((run.run_id(), Status::Canceled)));
        assert_eq!(t.run().await.result().await.unwrap().unconsumed_messages(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_full_channel_refuses_what_comes_next_and_takes_again_what_fits() {
    let mut options = Options::default();
    options.limits.channel_messages_max = 3;
    let flow = late;
    for way in IN_MEMORY {
        let mut t = World::new(*way, &flow, options.clone()).await;
        let run = t.client().start("r", ()).await.unwrap();
        for message in ["one", "two", "three"] {
            run.publish(Late::MESSAGES, message.into()).await.unwrap();
        }
        t.phase().await;
        let error = t.run().await.publish(Late::MESSAGES, "four".into()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::LimitReached);
        let text = error.to_string();
        assert!(text.contains("`r`: channel MESSAGES would hold 4 messages, the limit is 3"), "{text}");
        t.advance(hours(1)).await;
        let result = t.run().await.result().await.unwrap();
        assert_eq!(result.unconsumed_messages(), 2);
    }
}

/// Works off its jobs one by one and ends when there are none.
struct Drains {
    /// Handlers that were called.
    called: Counter,
}

#[flow(output = u32)]
impl Drains {
    #[channel]
    const JOBS: Channel<u32>;

    #[channel]
    const URGENT: Channel<u32>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::WORK, 0))
    }

    #[wait_for(work)]
    fn a_job(&self) -> WaitResult<Self, (usize, u32)> {
        Ok(Wait::any([Self::URGENT.one(), Self::JOBS.one()]))
    }

    #[step]
    async fn work(&self, ctx: &mut StepContext<Self>, done: u32, job: (usize, u32)) -> StepResult<Self> {
        self.called.add();
        // A job that brings another one is not the last.
        if job.1 == 7 {
            ctx.publish(Self::URGENT, 1)?;
        }
        Ok(Next::complete_if_empty((Self::JOBS, Self::URGENT), done + 1).or_to(Self::WORK, done + 1))
    }
}

#[tokio::test]
async fn a_run_that_ends_when_its_channels_are_empty_does_all_that_was_accepted() {
    let called = Counter::default();
    each_way(
        ALL,
        || Drains { called: called.clone() },
        async |t| {
            let start = t.client().start("r", ()).publish(Drains::JOBS, 1).publish(Drains::JOBS, 7);
            start.publish(Drains::URGENT, 3).await.unwrap();
            assert_eq!(t.run().await.output().await.unwrap(), 4, "{:?}", t.way);
            assert_eq!(t.run().await.result().await.unwrap().unconsumed_messages(), 0);
        },
    )
    .await;
    assert!(called.get() >= 4);
}

#[tokio::test]
async fn a_decision_on_empty_channels_can_be_looked_at_in_a_unit_test() {
    let mut ctx = StepContext::<Drains>::test().build();
    let next = Drains { called: Counter::default() }.work(&mut ctx, 2, (0, 1)).await.unwrap();
    assert_eq!((next.steps(), next.inputs(Drains::WORK), next.output()), (vec!["work"], vec![3], Some(3)));
}
