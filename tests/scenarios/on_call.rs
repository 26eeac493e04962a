//! Rows 59, 61 and 62, and the first half of rows 80 to 83: steps that calls start.

use dex::Status;
use dex::prelude::*;

use crate::support::{IN_MEMORY, each_way};

/// Has no step that starts: calls start one.
struct OnCall;

#[flow(output = u32)]
impl OnCall {
    #[step]
    async fn work(&self, input: u32) -> StepResult<Self> {
        Ok(Next::complete(input + 1))
    }

    #[rpc]
    async fn begin(&self, ctx: &mut RpcContext<Self>, input: u32) -> RpcResult<(u32, String, String)> {
        ctx.start_step(Self::WORK, input + 1)?;
        Ok((input + 1, ctx.flow_id().to_string(), ctx.run_id().to_string()))
    }
}

/// Rows 59 and 62
#[tokio::test]
async fn a_call_starts_the_first_step_of_a_run_and_knows_its_ids() {
    each_way(
        IN_MEMORY,
        || OnCall,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let answer = run.begin(1).await.unwrap();
            assert_eq!(answer, (2, "r".into(), run.run_id().to_string()));
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 3);
        },
    )
    .await;
}

/// Its start leads nowhere; a call goes on from there.
struct DeadEnd;

#[flow]
impl DeadEnd {
    #[step(start)]
    async fn stop_here(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step]
    async fn complete(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn revive(&self, ctx: &mut RpcContext<Self>) -> RpcResult<u32> {
        ctx.start_step(Self::COMPLETE, ())?;
        Ok(100)
    }
}

/// Row 61
#[tokio::test]
async fn a_call_goes_on_with_a_run_in_which_nothing_is_left_to_do() {
    each_way(
        IN_MEMORY,
        || DeadEnd,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let info = t.run().await.describe().await.unwrap();
            assert_eq!((info.status, info.steps.len()), (Status::Running, 0));
            assert_eq!(t.run().await.revive().await.unwrap(), 100);
            t.phase().await;
            t.run().await.output().await.unwrap();
        },
    )
    .await;
}

/// A step is reached by a message and by a call, and both times it counts.
struct TwoWays;

#[flow(output = u32)]
impl TwoWays {
    #[attribute]
    const COUNT: Attribute<u32>;
    #[attribute]
    const TEXT: Attribute<String>;
    #[attribute]
    const NUMBER: Attribute<i64>;
    #[channel]
    const GO: Channel<()>;

    #[wait_for(first)]
    fn told_to(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step(start)]
    async fn first(&self, _input: (), _go: ()) -> StepResult<Self> {
        Ok(Next::to(Self::SECOND, ()))
    }

    #[step(lock(COUNT))]
    async fn second(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let count = ctx.get(Self::COUNT)?.unwrap_or_default() + 1;
        ctx.set(Self::COUNT, count)?;
        Ok(Next::complete(count))
    }

    #[rpc(lock(COUNT))]
    async fn locking(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        go_both_ways(ctx)
    }

    #[rpc]
    async fn free(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        go_both_ways(ctx)
    }
}

fn go_both_ways(ctx: &mut RpcContext<TwoWays>) -> RpcResult<()> {
    ctx.set(TwoWays::COUNT, 0)?;
    ctx.set(TwoWays::TEXT, "written".into())?;
    ctx.set(TwoWays::NUMBER, 5)?;
    ctx.publish(TwoWays::GO, ())?;
    ctx.start_step(TwoWays::SECOND, ())
}

async fn both_ways(call: impl AsyncFn(&<TwoWays as Flow>::Run)) {
    each_way(
        IN_MEMORY,
        || TwoWays,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            call(&t.run().await).await;
            t.phase().await;
            let run = t.run().await;
            let mut outputs = run.result().await.unwrap().outputs().unwrap();
            outputs.sort();
            assert_eq!(outputs, [("second-1".to_owned(), 1), ("second-2".to_owned(), 2)], "{:?}", t.way);
            assert_eq!(run.get(TwoWays::TEXT).await.unwrap().as_deref(), Some("written"));
            assert_eq!(run.get(TwoWays::NUMBER).await.unwrap(), Some(5));
        },
    )
    .await;
}

/// Rows 80 and 81
#[tokio::test]
async fn a_call_under_a_lock_writes_publishes_and_starts_a_step_in_one_commit() {
    both_ways(async |run| run.locking().await.unwrap()).await;
}

/// Rows 82 and 83
#[tokio::test]
async fn a_call_without_a_lock_does_so_too() {
    both_ways(async |run| run.free().await.unwrap()).await;
}
