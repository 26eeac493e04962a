//! Requests with an id: carried out once, however often they come.
#![cfg(test)]

mod support;

use std::future::Future;
use std::pin::Pin;

use dex::prelude::*;
use dex::{ErrorKind, Status, Stop};
use support::{ALL, Counter, IN_MEMORY, each_way, hours};

/// Counts what it is sent, until it is told to end.
struct Sum;

#[flow(output = u32)]
impl Sum {
    #[attribute]
    const TOTAL: Attribute<u32>;
    #[channel]
    const MESSAGES: Channel<u32>;

    #[step(start)]
    async fn begin(&self, _input: u32) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step]
    async fn end(&self, total: u32) -> StepResult<Self> {
        Ok(Next::complete(total))
    }

    #[rpc]
    async fn add(&self, ctx: &mut RpcContext<Self>, number: u32) -> RpcResult<u32> {
        let total = ctx.get(Self::TOTAL)?.unwrap_or_default() + number;
        ctx.set(Self::TOTAL, total)?;
        if number == 0 {
            ctx.start_step(Self::END, total)?;
        }
        Ok(total)
    }
}

#[tokio::test]
async fn a_repeated_rpc_gets_the_first_answer_also_after_a_restart_and_after_the_end() {
    each_way(
        ALL,
        || Sum,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            for _ in 0..3 {
                let run = t.run().await;
                assert_eq!(run.request_id("first").unwrap().add(5).await.unwrap(), 5);
                assert_eq!(run.request_id("second").unwrap().add(5).await.unwrap(), 10);
                t.phase().await;
            }
            let run = t.run().await;
            let error = run.request_id("first").unwrap().add(6).await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::RequestMismatch);
            assert_eq!(run.request_id("last").unwrap().add(0).await.unwrap(), 10);
            assert_eq!(run.output().await.unwrap(), 10);
            t.phase().await;
            assert_eq!(t.run().await.request_id("first").unwrap().add(5).await.unwrap(), 5);
            assert!(t.run().await.add(5).await.err().unwrap().is_closed());
        },
    )
    .await;
}

#[tokio::test]
async fn a_repeated_start_gives_the_run_of_the_first() {
    each_way(
        ALL,
        || Sum,
        async |t| {
            let client = t.client();
            let first = client.start("r", 1).request_id("s").await.unwrap();
            t.phase().await;
            let again = t.client().start("r", 1).request_id("s").await.unwrap();
            assert_eq!(again.run_id(), first.run_id());
            let error = t.client().start("r", 2).request_id("s").await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::RequestMismatch);
            let error = t.client().start("r", 1).request_id("t").await.err().unwrap();
            assert!(error.is_already_started());
            t.run().await.terminate().await.unwrap();
            t.phase().await;
            let again = t.client().start("r", 1).request_id("s").await.unwrap();
            assert_eq!(again.run_id(), first.run_id());
        },
    )
    .await;
}

#[tokio::test]
async fn a_repeated_message_is_there_once_and_a_repeated_stop_is_fine() {
    each_way(
        ALL,
        || Sum,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            for _ in 0..3 {
                t.run().await.request_id("m").unwrap().publish(Sum::MESSAGES, 1).await.unwrap();
                t.phase().await;
            }
            assert_eq!(t.run().await.describe().await.unwrap().channels[0].waiting, 1);
            for _ in 0..2 {
                t.run().await.request_id("p").unwrap().pause().await.unwrap();
                t.run().await.request_id("q").unwrap().resume().await.unwrap();
            }
            t.run().await.request_id("p").unwrap().pause().await.unwrap();
            let status = t.run().await.describe().await.unwrap().status;
            assert_eq!(status, Status::Running, "a late repetition does not pause again");
            for _ in 0..3 {
                t.run().await.request_id("x").unwrap().terminate().await.unwrap();
                t.phase().await;
            }
            assert_eq!(t.run().await.result().await.unwrap().status(), Status::Terminated);
            let error = t.run().await.request_id("x").unwrap().cancel().await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::RequestMismatch);
        },
    )
    .await;
}

/// Has something for every change: a parked step, a wait with a timer, attributes and a message.
#[derive(Default)]
struct Everything {
    tries: Counter,
}

#[flow(endless)]
impl Everything {
    #[attribute]
    const TOTAL: Attribute<u32>;
    #[attribute]
    const OTHER: Attribute<u32>;
    #[channel]
    const MESSAGES: Channel<u32>;
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        ctx.publish(Self::MESSAGES, 1)?;
        ctx.set(Self::TOTAL, 1)?;
        Ok(Next::to(Self::PARKS, ()).and(Self::WAITS, ()))
    }

    #[step(retry(attempts = 1), on_exhausted = park)]
    async fn parks(&self, _input: ()) -> StepResult<Self> {
        self.tries.add();
        Err(StepError::fatal("never"))
    }

    #[wait_for(waits)]
    fn an_hour_and_more(&self) -> WaitResult<Self, (TimerFired, TimerFired, ())> {
        Ok(Wait::all((Timer::after(hours(1)), Timer::after(hours(2)), Self::GO.one())))
    }

    #[step]
    async fn waits(&self, _input: (), _got: (TimerFired, TimerFired, ())) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step(entry)]
    async fn aside(&self, _input: u32) -> StepResult<Self> {
        self.tries.add();
        Ok(Next::dead_end())
    }

    #[rpc]
    async fn add(&self, ctx: &mut RpcContext<Self>, number: u32) -> RpcResult<u32> {
        let total = ctx.get(Self::TOTAL)?.unwrap_or_default() + number;
        ctx.set(Self::TOTAL, total)?;
        Ok(total)
    }
}

type Changed = Pin<Box<dyn Future<Output = dex::Result<()>> + Send>>;

/// A change of a run.
type Change = fn(dex::Run<Everything>) -> Changed;

/// Every change that a handle of a run has, and what it is called.
const CHANGES: &[(&str, Change)] = &[
    ("publish", |run| Box::pin(async move { run.publish(Everything::MESSAGES, 2).await })),
    ("delete message", |run| Box::pin(async move { run.delete_message(Everything::MESSAGES, 1).await })),
    ("set", |run| Box::pin(async move { run.set(Everything::TOTAL, 7).await })),
    ("delete", |run| Box::pin(async move { run.delete(Everything::TOTAL).await })),
    ("update", |run| {
        Box::pin(async move {
            let total = run.update(Everything::TOTAL, |old| old.unwrap_or_default() + 1).await?;
            assert_eq!(total, 2);
            Ok(())
        })
    }),
    ("call", |run| {
        Box::pin(async move {
            assert_eq!(run.add(4).await?, 5);
            Ok(())
        })
    }),
    ("retry step", |run| Box::pin(async move { run.retry_step("parks-1").await })),
    ("skip step", |run| Box::pin(async move { run.skip_step("parks-1").await })),
    ("redirect step", |run| {
        Box::pin(async move { run.redirect_step("parks-1", Everything::ASIDE, 1).await })
    }),
    ("skip timer", |run| Box::pin(async move { run.skip_timer("waits-1").await })),
    ("pause", |run| Box::pin(async move { run.pause().await })),
    ("resume", |run| Box::pin(async move { run.resume().await })),
    ("cancel", |run| Box::pin(async move { run.cancel().await })),
    ("terminate", |run| Box::pin(async move { run.terminate().await })),
    ("stop", |run| Box::pin(async move { run.stop(Stop::Fail, "why not").await })),
];

#[tokio::test]
async fn every_change_is_made_once_under_one_request_also_after_the_end() {
    for (name, change) in CHANGES {
        each_way(IN_MEMORY, Everything::default, async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            // What a build of the flow has counted before the engine was opened again counts no more.
            let tries = || t.flow::<Everything>().tries.get();
            let once = async || change(t.run().await.request_id("q").unwrap()).await;
            once().await.unwrap_or_else(|error| panic!("{name}, {:?}: {error}", t.way));
            t.settle().await;
            let (before, counted) = (t.run().await.describe().await.unwrap(), tries());
            once().await.unwrap_or_else(|error| panic!("{name} again, {:?}: {error}", t.way));
            t.settle().await;
            let after = t.run().await.describe().await.unwrap();
            assert_eq!((after, tries()), (before, counted), "{name}, {:?}", t.way);
            let other = t.run().await.request_id("q").unwrap().set(Everything::OTHER, 1).await.unwrap_err();
            assert_eq!(other.kind(), ErrorKind::RequestMismatch, "{name}, {:?}", t.way);
            t.reopen().await;
            // It may be what has ended the run.
            drop(t.run().await.terminate().await);
            t.reopen().await;
            let once = async || change(t.run().await.request_id("q").unwrap()).await;
            once().await.unwrap_or_else(|error| panic!("{name} after the end, {:?}: {error}", t.way));
            let other = t.run().await.request_id("q").unwrap().set(Everything::OTHER, 1).await.unwrap_err();
            assert_eq!(other.kind(), ErrorKind::RequestMismatch, "{name} after the end, {:?}", t.way);
        })
        .await;
    }
}
