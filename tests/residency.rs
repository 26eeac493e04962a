//! Runs that only wait leave memory, and nobody can tell.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{Options, Status};
use support::{Way, World, hours, seconds};

/// Waits for a message or for a number of hours.
struct Parked;

#[flow(output = String)]
impl Parked {
    #[attribute]
    const NAME: Attribute<String>;
    #[channel]
    const MESSAGES: Channel<String>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, pause: u64) -> StepResult<Self> {
        let name = ctx.flow_id().to_string();
        ctx.set(Self::NAME, name)?;
        Ok(Next::to(Self::END, pause))
    }

    #[wait_for(end)]
    fn message_or_hours(
        &self,
        _ctx: &WaitContext<Self>,
        pause: &u64,
    ) -> WaitResult<Self, OneOf2<String, TimerFired>> {
        Ok(Wait::any((Self::MESSAGES.one(), Timer::after(hours(*pause)))))
    }

    #[step]
    async fn end(&self, _pause: u64, got: OneOf2<String, TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(match got {
            OneOf2::First(message) => message,
            OneOf2::Second(TimerFired) => "time".into(),
        }))
    }

    #[rpc]
    async fn name(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<String>> {
        ctx.get(Self::NAME)
    }
}

const RUNS: u64 = 2_000;

fn few() -> Options {
    Options { idle_runs_max: 16, timers_max: 64, ..Options::default() }
}

/// Starts `RUNS` runs, of which every third waits for two hours and the others for a hundred.
async fn parked(t: &World<'_, Parked>) {
    for number in 0..RUNS {
        let pause = if number % 3 == 0 { 2 } else { 100 };
        t.client().start(format!("r{number}"), pause).await.unwrap();
    }
    t.settle().await;
}

#[tokio::test]
async fn runs_that_left_memory_answer_queries_take_messages_and_wake_by_time() {
    let flow = || Parked;
    for way in [Way::Straight, Way::Restarted] {
        let mut t = World::new(way, &flow, few()).await;
        parked(&t).await;
        t.reopen().await;
        t.advance(hours(3)).await;
        for number in 0..RUNS {
            let id = format!("r{number}");
            let run = t.client().run(&id).await.unwrap();
            assert_eq!(run.name().await.unwrap(), Some(id.clone()));
            let expected = if number % 3 == 0 { Status::Completed } else { Status::Running };
            assert_eq!(run.describe().await.unwrap().status, expected, "{way:?}: {id}");
            if expected == Status::Running && number % 2 == 0 {
                run.publish(Parked::MESSAGES, id.clone()).await.unwrap();
                assert_eq!(run.output().await.unwrap(), id);
            }
        }
        t.advance(hours(100)).await;
        for number in 0..RUNS {
            let run = t.client().run(format!("r{number}")).await.unwrap();
            assert_eq!(run.describe().await.unwrap().status, Status::Completed, "{way:?}: r{number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_callers_of_runs_that_leave_and_come_back_find_each_run_once() {
    let options = Options { idle_runs_max: 1, ..Options::default() };
    let t = dex::testing::engine().options(options).flow(Adds).start().await.unwrap();
    for number in 0..8 {
        t.client::<Adds>().start(format!("r{number}"), ()).await.unwrap();
    }
    let callers: Vec<_> = (0..16_usize)
        .map(|caller| {
            let client = t.client::<Adds>();
            tokio::spawn(async move {
                for turn in 0..40 {
                    let run = client.run(format!("r{}", (caller * 3 + turn) % 8)).await.unwrap();
                    run.add().await.unwrap();
                    run.publish(Adds::MESSAGES, 1).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    t.settle().await;
    let (mut added, mut taken) = (0, 0);
    for number in 0..8 {
        let run = t.client::<Adds>().run(format!("r{number}")).await.unwrap();
        let (by_rpc, by_message) = run.sums().await.unwrap();
        added += by_rpc;
        taken += by_message;
    }
    assert_eq!((added, taken), (16 * 40, 16 * 40));
}

/// Adds up calls and messages.
struct Adds;

#[flow(endless, output = ())]
impl Adds {
    #[attribute]
    const CALLS: Attribute<u64>;
    #[attribute]
    const TAKEN: Attribute<u64>;
    #[channel]
    const MESSAGES: Channel<u64>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn a_message(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::MESSAGES.one()))
    }

    #[step]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), number: u64) -> StepResult<Self> {
        let taken = ctx.get(Self::TAKEN)?.unwrap_or_default() + number;
        ctx.set(Self::TAKEN, taken)?;
        Ok(Next::to(Self::TAKE, ()))
    }

    #[rpc]
    async fn add(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        let calls = ctx.get(Self::CALLS)?.unwrap_or_default() + 1;
        ctx.set(Self::CALLS, calls)
    }

    #[rpc]
    async fn sums(&self, ctx: &RpcContext<Self>) -> RpcResult<(u64, u64)> {
        Ok((ctx.get(Self::CALLS)?.unwrap_or_default(), ctx.get(Self::TAKEN)?.unwrap_or_default()))
    }
}

#[tokio::test]
async fn a_waiting_caller_is_woken_by_the_end_of_a_run_that_had_left() {
    let flow = || Parked;
    let t = World::new(Way::Straight, &flow, few()).await;
    let run = t.client().start("first", 1).await.unwrap();
    let waiting = tokio::spawn(async move { run.output().await.unwrap() });
    for number in 0..100 {
        t.client().start(format!("r{number}"), 100).await.unwrap();
    }
    t.settle().await;
    t.advance(hours(1) + seconds(1)).await;
    assert_eq!(waiting.await.unwrap(), "time");
}
