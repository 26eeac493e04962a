//! Pausing and resuming.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{Options, Status, testing};
use support::{ALL, Counter, each_way, engine, hours};

/// Waits for a message or an hour, then counts.
#[derive(Default)]
struct Reminder {
    ran: Counter,
}

#[flow(output = bool)]
impl Reminder {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::REMIND, ()))
    }

    #[wait_for(remind)]
    fn message_or_an_hour(&self) -> WaitResult<Self, OneOf2<(), TimerFired>> {
        Ok(Wait::any((Self::GO.one(), Timer::after(hours(1)))))
    }

    #[step]
    async fn remind(&self, _input: (), got: OneOf2<(), TimerFired>) -> StepResult<Self> {
        self.ran.add();
        Ok(Next::complete(matches!(got, OneOf2::First(()))))
    }
}

#[tokio::test]
async fn a_paused_run_starts_nothing_keeps_its_messages_and_goes_on_after_the_pause() {
    each_way(ALL, Reminder::default, async |t| {
        t.client().start("r", ()).await.unwrap();
        t.phase().await;
        t.run().await.pause().await.unwrap();
        t.phase().await;
        t.run().await.publish(Reminder::GO, ()).await.unwrap();
        t.phase().await;
        let info = t.run().await.describe().await.unwrap();
        assert_eq!((info.status, info.closed.is_none()), (Status::Paused, true), "{:?}", t.way);
        assert!(info.explain().starts_with("paused"), "{}", info.explain());
        assert_eq!(t.dex().inspect().runs(None, 9).await.unwrap()[0].status, Status::Paused);
        t.run().await.resume().await.unwrap();
        t.phase().await;
        assert!(t.run().await.output().await.unwrap(), "{:?}", t.way);
    })
    .await;
}

#[tokio::test]
async fn a_timer_that_comes_due_during_a_pause_fires_after_it() {
    each_way(ALL, Reminder::default, async |t| {
        t.client().start("r", ()).await.unwrap();
        t.phase().await;
        t.run().await.pause().await.unwrap();
        t.advance(hours(3)).await;
        t.phase().await;
        assert_eq!(t.run().await.describe().await.unwrap().status, Status::Paused, "{:?}", t.way);
        t.run().await.resume().await.unwrap();
        t.advance(hours(0)).await;
        assert!(!t.run().await.output().await.unwrap(), "{:?}", t.way);
    })
    .await;
}

#[tokio::test]
async fn pausing_twice_is_one_pause_and_a_paused_run_can_be_cancelled() {
    let t = engine(Reminder::default()).await;
    let run = t.client::<Reminder>().start("r", ()).await.unwrap();
    run.pause().await.unwrap();
    run.pause().await.unwrap();
    t.settle().await;
    run.cancel().await.unwrap();
    assert_eq!(run.result().await.unwrap().status(), Status::Canceled);
    assert!(run.pause().await.err().unwrap().is_closed());
    assert!(run.resume().await.err().unwrap().is_closed());
}

/// Its handler runs until it is told to go on.
#[derive(Default)]
struct Slow {
    begun: Counter,
    dropped: Counter,
    go: tokio::sync::Notify,
}

/// Counts the handlers that were dropped or have ended.
struct Dropped(Counter);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.add();
    }
}

#[flow(output = ())]
impl Slow {
    #[step(start)]
    async fn begin(&self, waits: bool) -> StepResult<Self> {
        if waits {
            self.begun.add();
            let _dropped = Dropped(self.dropped.clone());
            self.go.notified().await;
            return Ok(Next::to(Self::END, ()));
        }
        Ok(Next::dead_end())
    }

    #[step]
    async fn end(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn resuming_does_not_call_a_running_handler_a_second_time() {
    let t = engine(Slow::default()).await;
    let run = t.client::<Slow>().start("r", true).await.unwrap();
    t.settle().await;
    run.pause().await.unwrap();
    run.resume().await.unwrap();
    t.settle().await;
    t.flow::<Slow>().go.notify_one();
    run.output().await.unwrap();
    assert_eq!(t.flow::<Slow>().begun.get(), 1);
}

/// An engine that keeps one run with nothing to do, with a paused run whose handler still runs, and others that have
/// taken its place in memory.
async fn paused_beside_others() -> testing::TestEngine {
    let options = Options { idle_runs_max: 1, ..Options::default() };
    let t = testing::engine().flow(Slow::default()).options(options).start().await.unwrap();
    let run = t.client::<Slow>().start("r", true).await.unwrap();
    t.settle().await;
    run.pause().await.unwrap();
    for number in 0..4 {
        t.client::<Slow>().start(format!("other {number}"), false).await.unwrap();
        t.settle().await;
    }
    t
}

#[tokio::test]
async fn what_a_handler_of_a_paused_run_reports_counts_whatever_else_has_happened() {
    let t = paused_beside_others().await;
    t.flow::<Slow>().go.notify_one();
    t.settle().await;
    let run = t.client::<Slow>().run("r").await.unwrap();
    let steps = run.describe().await.unwrap().steps;
    assert_eq!(steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>(), ["end-1"]);
    // Now it may leave memory, and is found again.
    t.client::<Slow>().start("another", false).await.unwrap();
    t.settle().await;
    run.resume().await.unwrap();
    run.output().await.unwrap();
    assert_eq!(t.flow::<Slow>().begun.get(), 1);
}

#[tokio::test]
async fn the_handler_of_a_paused_run_hears_of_its_end_whatever_else_has_happened() {
    let t = paused_beside_others().await;
    t.client::<Slow>().run("r").await.unwrap().cancel().await.unwrap();
    t.settle().await;
    assert_eq!(t.flow::<Slow>().dropped.get(), 1);
}
