//! Stopping runs from outside.
#![cfg(test)]

mod support;

use std::sync::Arc;

use dex::prelude::*;
use dex::{Closing, Status, Stop};
use support::{ALL, Counter, IN_MEMORY, each_way, engine, hours, seconds};
use tokio::sync::Notify;

/// Waits for a message, or in a handler that never returns.
#[derive(Default)]
struct Long {
    entered: Arc<Notify>,
    dropped: Counter,
}

/// Counts when it is dropped.
struct Guard(Counter);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.add();
    }
}

#[flow(output = ())]
impl Long {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, hang: bool) -> StepResult<Self> {
        Ok(if hang { Next::to(Self::HANG, ()) } else { Next::to(Self::WAIT, ()) })
    }

    #[step]
    async fn hang(&self, _input: ()) -> StepResult<Self> {
        let _guard = Guard(self.dropped.clone());
        self.entered.notify_one();
        std::future::pending().await
    }

    #[wait_for(wait)]
    fn message_or_a_day(&self) -> WaitResult<Self, OneOf2<(), TimerFired>> {
        Ok(Wait::any((Self::GO.one(), Timer::after(hours(24)))))
    }

    #[step]
    async fn wait(&self, _input: (), _got: OneOf2<(), TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn ping(&self, _ctx: &RpcContext<Self>) -> RpcResult<String> {
        Ok("pong".into())
    }
}

#[tokio::test]
async fn each_stop_ends_the_run_in_its_way_and_keeps_the_reason() {
    let stops = [
        (Stop::Cancel, Status::Canceled),
        (Stop::Terminate, Status::Terminated),
        (Stop::Fail, Status::Failed),
    ];
    for (stop, status) in stops {
        each_way(ALL, Long::default, async |t| {
            t.client().start("r", false).await.unwrap();
            t.phase().await;
            t.run().await.stop(stop, "not wanted").await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let result = run.result().await.unwrap();
            assert_eq!(result.status(), status);
            assert_eq!(result.closing(), &Closing::Stopped { stop, reason: Some("not wanted".into()) });
            let error = run.output().await.err().unwrap();
            assert_eq!(error.existing_run(), Some((run.run_id(), status)));
            assert!(error.to_string().contains("not wanted"), "{error}");
            // Queries go on, and time has nothing to do any more.
            assert_eq!(run.ping().await.unwrap(), "pong");
            let transitions = run.describe().await.unwrap().transitions;
            t.advance(hours(48)).await;
            assert_eq!(t.run().await.describe().await.unwrap().transitions, transitions);
        })
        .await;
    }
}

#[tokio::test]
async fn the_first_stop_wins() {
    each_way(IN_MEMORY, Long::default, async |t| {
        let run = t.client().start("r", false).await.unwrap();
        run.cancel().await.unwrap();
        t.phase().await;
        let run = t.run().await;
        for stop in [Stop::Terminate, Stop::Fail, Stop::Cancel] {
            let error = run.stop(stop, "again").await.err().unwrap();
            assert!(error.is_closed(), "{error:?}");
            assert_eq!(error.existing_run(), Some((run.run_id(), Status::Canceled)));
        }
        assert_eq!(run.result().await.unwrap().status(), Status::Canceled);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_stops_at_once_one_wins() {
    let t = engine(Long::default()).await;
    for round in 0..20 {
        let run = t.client::<Long>().start(format!("r{round}"), false).await.unwrap();
        // Nothing runs then, so the first cancel ends the run.
        t.settle().await;
        let stops: Vec<_> = (0..16)
            .map(|n| {
                let run = run.clone();
                tokio::spawn(async move { run.stop(Stop::Cancel, n.to_string()).await.map(|()| n) })
            })
            .collect();
        let mut won = Vec::new();
        for stop in stops {
            match stop.await.unwrap() {
                Ok(n) => won.push(n),
                Err(error) => assert!(error.is_closed(), "{error:?}"),
            }
        }
        assert_eq!(won.len(), 1);
        let reason = Some(won[0].to_string());
        let closing = Closing::Stopped { stop: Stop::Cancel, reason };
        assert_eq!(run.result().await.unwrap().closing(), &closing);
    }
}

#[tokio::test]
async fn a_handler_that_runs_is_dropped_when_its_run_is_canceled() {
    let t = engine(Long::default()).await;
    let flow = t.flow::<Long>();
    let run = t.client::<Long>().start("r", true).await.unwrap();
    flow.entered.notified().await;
    assert_eq!(flow.dropped.get(), 0);
    run.cancel().await.unwrap();
    // It does not listen, and gets the time to end its work.
    t.advance(seconds(9)).await;
    assert_eq!(flow.dropped.get(), 0);
    t.advance(seconds(1)).await;
    assert_eq!(flow.dropped.get(), 1);
    assert_eq!(run.result().await.unwrap().status(), Status::Canceled);
}

#[tokio::test]
async fn who_waits_for_the_end_is_told_of_a_stop() {
    let t = engine(Long::default()).await;
    let run = t.client::<Long>().start("r", false).await.unwrap();
    let waiters: Vec<_> = (0..10)
        .map(|_| {
            let run = run.clone();
            tokio::spawn(async move { run.result().await.unwrap().status() })
        })
        .collect();
    t.settle().await;
    run.cancel().await.unwrap();
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), Status::Canceled);
    }
}

#[tokio::test]
async fn a_completed_run_cannot_be_stopped() {
    each_way(IN_MEMORY, Long::default, async |t| {
        let run = t.client().start("r", false).await.unwrap();
        run.publish(Long::GO, ()).await.unwrap();
        run.output().await.unwrap();
        t.phase().await;
        let error = t.run().await.cancel().await.err().unwrap();
        assert_eq!(error.existing_run(), Some((run.run_id(), Status::Completed)));
        t.run().await.output().await.unwrap();
    })
    .await;
}
