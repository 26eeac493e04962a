//! Requests with an id: carried out once, however often they come.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{ErrorKind, Status};
use support::{ALL, each_way};

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
