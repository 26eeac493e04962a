//! Pausing and resuming.
#![cfg(test)]

mod support;

use dex::Status;
use dex::prelude::*;
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

#[tokio::test]
async fn resuming_does_not_call_a_running_handler_a_second_time() {
    #[derive(Default)]
    struct Slow {
        begun: Counter,
        go: tokio::sync::Notify,
    }
    #[flow(output = ())]
    impl Slow {
        #[step(start)]
        async fn begin(&self, _input: ()) -> StepResult<Self> {
            self.begun.add();
            self.go.notified().await;
            Ok(Next::complete(()))
        }
    }
    let t = engine(Slow::default()).await;
    let run = t.client::<Slow>().start("r", ()).await.unwrap();
    t.settle().await;
    run.pause().await.unwrap();
    run.resume().await.unwrap();
    t.settle().await;
    t.flow::<Slow>().go.notify_one();
    run.output().await.unwrap();
    assert_eq!(t.flow::<Slow>().begun.get(), 1);
}
