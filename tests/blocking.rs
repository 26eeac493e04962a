//! Plain `fn` steps run where they may block, and keep nobody else waiting.
#![cfg(test)]

mod support;

use std::sync::{Arc, Barrier, Condvar, Mutex};

use dex::prelude::*;
use support::{IN_MEMORY, each_way, engine, seconds};

/// Blocks its thread until it is let go.
#[derive(Clone, Default)]
struct Door(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    open: bool,
    inside: usize,
}

impl Door {
    fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.inside += 1;
        changed.notify_all();
        while !state.open {
            state = changed.wait(state).unwrap();
        }
    }

    fn wait_for_inside(&self, count: usize) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        while state.inside < count {
            state = changed.wait(state).unwrap();
        }
    }

    fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().unwrap().open = true;
        changed.notify_all();
    }
}

struct Mixed {
    door: Door,
}

#[flow(output = String)]
impl Mixed {
    #[step(start)]
    async fn begin(&self, block: bool) -> StepResult<Self> {
        Ok(if block { Next::to(Self::BLOCK, ()) } else { Next::to(Self::WAIT, ()) })
    }

    #[step]
    fn block(&self, _input: ()) -> StepResult<Self> {
        self.door.pass();
        Ok(Next::complete("blocked".into()))
    }

    #[wait_for(wait)]
    fn a_second(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(1))))
    }

    #[step]
    async fn wait(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete("waited".into()))
    }

    #[rpc]
    async fn ping(&self, _ctx: &RpcContext<Self>) -> RpcResult<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "current_thread")]
async fn steps_that_block_do_not_hold_up_the_timers_and_calls_of_others_on_one_thread() {
    let dex = {
        let folder = tempfile::tempdir().unwrap();
        let door = Door::default();
        let dex = dex::Dex::open(folder.path()).flow(Mixed { door }).start().await.unwrap();
        (folder, dex)
    };
    let (_folder, dex) = dex;
    let door = dex.flow::<Mixed>().unwrap().door.clone();
    let client = dex.client::<Mixed>();
    let mut blocked = Vec::new();
    for number in 0..8 {
        blocked.push(client.start(format!("b{number}"), true).await.unwrap());
    }
    tokio::task::spawn_blocking({
        let door = door.clone();
        move || door.wait_for_inside(8)
    })
    .await
    .unwrap();
    // All of them stand in their handlers. On the real clock, others start, wait, and answer.
    let waiting = client.start("w", false).await.unwrap();
    waiting.ping().await.unwrap();
    blocked[0].ping().await.unwrap();
    assert_eq!(waiting.output().await.unwrap(), "waited");
    door.open();
    for run in blocked {
        assert_eq!(run.output().await.unwrap(), "blocked");
    }
    dex.shutdown(seconds(5)).await.unwrap();
}

/// Two executions that only end together: they run at the same time or never.
struct Together {
    meeting: Barrier,
}

#[flow(output = u32)]
impl Together {
    #[step(start)]
    fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::each(Self::MEET, [1, 2, 3]))
    }

    #[step]
    fn meet(&self, number: u32) -> StepResult<Self> {
        self.meeting.wait();
        Ok(Next::complete(number))
    }
}

#[tokio::test(flavor = "current_thread")]
async fn blocking_steps_of_one_run_run_at_the_same_time() {
    let t = engine(Together { meeting: Barrier::new(3) }).await;
    let run = t.client::<Together>().start("r", ()).await.unwrap();
    let outputs = run.result().await.unwrap().outputs().unwrap();
    let mut outputs: Vec<_> = outputs.into_iter().map(|(_, output)| output).collect();
    outputs.sort_unstable();
    assert_eq!(outputs, [1, 2, 3]);
}

/// Plain functions all the way, beside asynchronous ones.
struct Plain;

#[flow(output = u32)]
impl Plain {
    #[attribute]
    const COUNT: Attribute<u32>;

    #[step(start)]
    fn one(&self, ctx: &mut StepContext<Self>, input: u32) -> StepResult<Self> {
        ctx.set(Self::COUNT, input + 1)?;
        Ok(Next::to(Self::TWO, ()))
    }

    #[step]
    async fn two(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        let count = ctx.get(Self::COUNT)?.unwrap_or_default();
        ctx.set(Self::COUNT, count + 1)?;
        Ok(Next::to(Self::THREE, ()))
    }

    #[step(retry(initial = "1ms"))]
    fn three(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        if ctx.attempt() < 3 {
            return Err(StepError::new("again"));
        }
        Ok(Next::complete(ctx.get(Self::COUNT)?.unwrap_or_default()))
    }
}

#[tokio::test]
async fn plain_and_asynchronous_steps_mix() {
    each_way(
        IN_MEMORY,
        || Plain,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.advance(seconds(1)).await;
            assert_eq!(t.run().await.output().await.unwrap(), 3);
        },
    )
    .await;
}
