//! Shutdown, restart, and much that is due at once.

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use dex::prelude::*;
use dex::testing;
use dex::{Dex, ErrorKind, Options, Status};
use dex_runtime::store::Store;
use tokio::sync::watch;

use crate::support::{Counter, Way, World, engine, hours, seconds};

/// Shuts its own engine down, once.
#[derive(Default)]
struct ShutsDown {
    engine: OnceLock<Dex>,
    calls: Counter,
}

#[flow(output = ())]
impl ShutsDown {
    #[step(start)]
    async fn only(&self, _input: ()) -> StepResult<Self> {
        self.calls.add();
        match self.engine.get() {
            Some(engine) => engine.shutdown(Duration::ZERO).await?,
            None => return Ok(Next::complete(())),
        }
        Ok(Next::complete(()))
    }
}

/// L1
#[tokio::test]
async fn a_shutdown_from_inside_a_step_ends_and_the_step_runs_again_at_the_next_opening() {
    let t = engine(ShutsDown::default()).await;
    let flow = t.flow::<ShutsDown>();
    flow.engine.set(t.dex().clone()).unwrap();
    let run = t.client::<ShutsDown>().start("r", ()).await.unwrap();
    assert_eq!(run.output().await.err().unwrap().kind(), ErrorKind::ShutDown);
    // Ends once the other one has, which the end of its step did not cut short.
    t.shutdown(seconds(60)).await.unwrap();
    assert!(t.store().fault().is_some(), "the store was not closed");
    assert_eq!(flow.calls.get(), 1);

    let t = testing::engine_on(t.store().reopen()).flow(ShutsDown::default()).start().await.unwrap();
    t.client::<ShutsDown>().run("r").await.unwrap().output().await.unwrap();
}

/// Works until it is let go, unless it is told not to.
struct Holds {
    go: watch::Sender<bool>,
}

#[flow(output = ())]
impl Holds {
    #[step(start)]
    async fn only(&self, holds: bool) -> StepResult<Self> {
        if holds {
            let _ = self.go.subscribe().wait_for(|go| *go).await;
        }
        Ok(Next::complete(()))
    }
}

/// L1
#[tokio::test]
async fn a_second_shutdown_with_less_grace_brings_the_end_forward() {
    let t = engine(Holds { go: watch::Sender::new(false) }).await;
    t.client::<Holds>().start("r", true).await.unwrap();
    t.settle().await;
    let first = tokio::spawn({
        let t = t.clone();
        async move { t.shutdown(hours(1)).await }
    });
    while t.client::<Holds>().run("r").await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!first.is_finished());
    // More grace changes nothing; the clock stands still, so only the one with less can end all three.
    let second = tokio::spawn({
        let t = t.clone();
        async move { t.shutdown(hours(2)).await }
    });
    t.settle().await;
    assert!(!first.is_finished() && !second.is_finished());
    t.shutdown(Duration::ZERO).await.unwrap();
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
}

/// L3, L5
#[tokio::test]
async fn the_only_slot_that_a_crash_left_taken_is_free_at_the_next_opening() {
    let go = watch::Sender::new(false);
    let flow = || Holds { go: go.clone() };
    let options = Options { worker_slots: 1, ..Options::default() };
    for way in [Way::Restarted, Way::OnDisk] {
        go.send_replace(false);
        let mut t = World::new(way, &flow, options.clone()).await;
        let held = t.client().start("held", true).await.unwrap();
        t.settle().await;
        t.reopen().await;
        // The clock stands still: no lease has to end before the work is taken up again.
        go.send_replace(true);
        held.output().await.unwrap();
        t.client().start("other", false).await.unwrap().output().await.unwrap();
        assert_eq!(held.describe().await.unwrap().status, Status::Completed, "{way:?}");
    }
}

/// Sleeps some minutes and notes when it woke; at most so many at once.
#[derive(Default)]
struct Sleeps {
    woken: Mutex<Vec<usize>>,
    now: Counter,
    most: Mutex<usize>,
    ended: Counter,
}

#[flow(output = ())]
impl Sleeps {
    #[step(start)]
    async fn begin(&self, minutes: usize) -> StepResult<Self> {
        Ok(Next::to(Self::WAKE, minutes))
    }

    #[wait_for(wake)]
    fn then(&self, _ctx: &WaitContext<Self>, minutes: &usize) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(*minutes as u64 * 60))))
    }

    #[step]
    async fn wake(&self, minutes: usize, _fired: TimerFired) -> StepResult<Self> {
        self.woken.lock().unwrap().push(minutes);
        let at_once = self.now.add() - self.ended.get();
        {
            let mut most = self.most.lock().unwrap();
            *most = at_once.max(*most);
        }
        // Others get their turn while this one works.
        tokio::task::yield_now().await;
        self.ended.add();
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn ping(&self, _ctx: &RpcContext<Self>) -> RpcResult<()> {
        Ok(())
    }
}

/// L7
#[tokio::test]
async fn what_came_due_during_a_downtime_is_done_in_its_order_a_few_at_once_and_keeps_nobody_out() {
    const RUNS: usize = 2_000;
    const SLOTS: usize = 4;
    let options = Options { worker_slots: SLOTS, timers_max: 100, idle_runs_max: 50, ..Options::default() };
    let t = testing::engine().options(options.clone()).flow(Sleeps::default()).start().await.unwrap();
    for number in 0..RUNS {
        // In another order than they will be due in.
        t.client::<Sleeps>().start(format!("r{number}"), 1 + number * 37 % RUNS).await.unwrap();
    }
    t.settle().await;
    t.shutdown(Duration::ZERO).await.unwrap();

    let later = t.now().saturating_add(hours(48));
    let t = testing::engine_on(t.store().reopen()).now(later).options(options);
    let t = t.flow(Sleeps::default()).start().await.unwrap();
    let flow = t.flow::<Sleeps>();
    // In the middle of it.
    while flow.ended.get() < 10 {
        tokio::task::yield_now().await;
    }
    t.client::<Sleeps>().start("new", 1).await.unwrap().ping().await.unwrap();
    t.client::<Sleeps>().run("r0").await.unwrap().ping().await.unwrap();
    let done = flow.ended.get();
    assert!(done < RUNS / 2, "callers waited until {done} were done");
    t.settle().await;
    let woken = flow.woken.lock().unwrap().clone();
    assert_eq!(woken.len(), RUNS);
    assert!(*flow.most.lock().unwrap() <= SLOTS);
    // In the order of their timers, but for those that are on their way at once.
    for (place, minutes) in woken.iter().enumerate() {
        let due = *minutes - 1;
        assert!(place.abs_diff(due) < 200, "what was due as number {due} was done as number {place}");
    }
}
