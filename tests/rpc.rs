//! RPCs: queries and transactions on runs that are open, parked or closed.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{ErrorKind, FailureKind, Status};
use support::{ALL, IN_MEMORY, each_way, engine, hours};

/// Counts, and ends with a message.
struct Tally;

#[derive(Debug, thiserror::Error)]
#[error("the amount {amount} is too much")]
struct TooMuch {
    amount: u32,
    #[source]
    source: std::num::TryFromIntError,
}

#[flow(output = u32)]
impl Tally {
    #[attribute]
    const COUNT: Attribute<u32>;
    #[attribute]
    const OTHER: Attribute<String>;
    #[channel]
    const GO: Channel<u32>;

    #[step(start)]
    async fn begin(&self, park: bool) -> StepResult<Self> {
        if park {
            // No repetition can mend a decision for nothing.
            return Ok(Next::each(Self::END, Vec::<()>::new()));
        }
        Ok(Next::to(Self::END, ()))
    }

    #[wait_for(end)]
    fn a_message(&self) -> WaitResult<Self, u32> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn end(&self, ctx: &mut StepContext<Self>, _input: (), message: u32) -> StepResult<Self> {
        Ok(Next::complete(ctx.get(Self::COUNT)?.unwrap_or_default() + message))
    }

    #[rpc]
    async fn count(&self, ctx: &RpcContext<Self>) -> RpcResult<u32> {
        Ok(ctx.get(Self::COUNT)?.unwrap_or_default())
    }

    #[rpc]
    async fn add(&self, ctx: &mut RpcContext<Self>, amount: u32) -> RpcResult<u32> {
        let count = ctx.get(Self::COUNT)?.unwrap_or_default() + amount;
        ctx.set(Self::COUNT, count)?;
        // Others get their turn between the look and the commit.
        tokio::task::yield_now().await;
        Ok(count)
    }

    /// Writes everything, and then refuses.
    #[rpc]
    async fn add_all_and_refuse(&self, ctx: &mut RpcContext<Self>, amount: u32) -> RpcResult<()> {
        ctx.set(Self::COUNT, amount)?;
        ctx.set(Self::OTHER, "written".into())?;
        ctx.publish(Self::GO, 1)?;
        ctx.start_step(Self::END, ())?;
        let source = u8::try_from(amount).err();
        if let Some(source) = source {
            return Err(TooMuch { amount, source }.into());
        }
        Err(RpcError::new("no"))
    }

    #[rpc]
    async fn reads_its_own_writes(&self, ctx: &mut RpcContext<Self>) -> RpcResult<(u32, Option<String>)> {
        ctx.set(Self::COUNT, 100)?;
        ctx.set(Self::OTHER, "gone".into())?;
        ctx.delete(Self::OTHER)?;
        Ok((ctx.get(Self::COUNT)?.unwrap_or_default(), ctx.get(Self::OTHER)?))
    }

    #[rpc]
    async fn finish(&self, ctx: &mut RpcContext<Self>, message: u32) -> RpcResult<()> {
        ctx.set(Self::COUNT, 1)?;
        ctx.publish(Self::GO, message)
    }

    #[rpc]
    async fn panics(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::COUNT, 5)?;
        panic!("an RPC panics on purpose")
    }

    #[rpc]
    async fn hangs(&self, _ctx: &RpcContext<Self>) -> RpcResult<()> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_query_answers_on_an_open_and_on_a_closed_run() {
    each_way(
        ALL,
        || Tally,
        async |t| {
            t.client().start("r", false).await.unwrap();
            assert_eq!(t.run().await.add(2).await.unwrap(), 2);
            t.phase().await;
            assert_eq!(t.run().await.count().await.unwrap(), 2);
            t.run().await.publish(Tally::GO, 5).await.unwrap();
            assert_eq!(t.run().await.output().await.unwrap(), 7);
            t.phase().await;
            let transitions = t.run().await.describe().await.unwrap().transitions;
            assert_eq!(t.run().await.count().await.unwrap(), 2);
            assert_eq!(t.run().await.describe().await.unwrap().transitions, transitions, "a query wrote");
            let error = t.run().await.add(1).await.err().unwrap();
            assert!(error.is_closed(), "{error:?}");
        },
    )
    .await;
}

#[tokio::test]
async fn an_rpc_publishes_and_wakes_the_run_in_one_commit() {
    each_way(
        ALL,
        || Tally,
        async |t| {
            t.client().start("r", false).await.unwrap();
            t.phase().await;
            t.run().await.finish(41).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 42);
        },
    )
    .await;
}

#[tokio::test]
async fn an_rpc_that_fails_changes_nothing_and_its_error_keeps_type_text_and_cause() {
    each_way(
        IN_MEMORY,
        || Tally,
        async |t| {
            t.client().start("r", false).await.unwrap();
            t.run().await.add(3).await.unwrap();
            t.phase().await;
            let before = t.run().await.describe().await.unwrap();
            let error = t.run().await.add_all_and_refuse(300).await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::RpcFailed);
            let failure = error.failure().unwrap();
            assert!(failure.type_name.ends_with("TooMuch"), "{failure:?}");
            assert_eq!(failure.message, "the amount 300 is too much");
            assert_eq!(failure.chain.len(), 1);
            assert!(error.to_string().contains("add_all_and_refuse"), "{error}");
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap(), before);
            assert_eq!(t.run().await.count().await.unwrap(), 3);
        },
    )
    .await;
}

#[tokio::test]
async fn an_rpc_that_panics_changes_nothing_and_tells_text_and_place() {
    let t = engine(Tally).await;
    let run = t.client::<Tally>().start("r", false).await.unwrap();
    let error = run.panics().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::RpcFailed);
    let failure = error.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Panic);
    assert_eq!(failure.message, "an RPC panics on purpose");
    assert!(failure.place.as_ref().unwrap().contains("rpc.rs"), "{failure:?}");
    assert_eq!(run.count().await.unwrap(), 0);
}

#[tokio::test]
async fn an_rpc_sees_its_own_writes() {
    let t = engine(Tally).await;
    let run = t.client::<Tally>().start("r", false).await.unwrap();
    assert_eq!(run.reads_its_own_writes().await.unwrap(), (100, None));
    assert_eq!(run.count().await.unwrap(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_increment_of_20_callers_at_once_is_lost() {
    let t = engine(Tally).await;
    let run = t.client::<Tally>().start("r", false).await.unwrap();
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let run = run.clone();
            tokio::spawn(async move {
                let mut seen = Vec::new();
                for _ in 0..10 {
                    seen.push(run.add(1).await.unwrap());
                }
                seen
            })
        })
        .collect();
    let mut seen = Vec::new();
    for caller in callers {
        seen.extend(caller.await.unwrap());
    }
    assert_eq!(run.count().await.unwrap(), 200);
    // Each saw a count of its own: they happened one after the other.
    seen.sort_unstable();
    assert_eq!(seen, (1..=200).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_parked_run_answers_and_takes_rpcs() {
    each_way(
        IN_MEMORY,
        || Tally,
        async |t| {
            t.client().start("r", true).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let explained = run.describe().await.unwrap().explain();
            assert!(explained.contains("parked"), "{explained}");
            run.add(4).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.count().await.unwrap(), 4);
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);
        },
    )
    .await;
}

#[tokio::test]
async fn an_rpc_that_hangs_ends_with_its_time() {
    let t = engine(Tally).await;
    let run = t.client::<Tally>().start("r", false).await.unwrap();
    t.settle().await;
    let call = tokio::spawn({
        let run = run.clone();
        async move { run.hangs().await }
    });
    // The call's deadline is the only thing that anyone sleeps for.
    tokio::task::yield_now().await;
    t.advance(hours(1)).await;
    let error = call.await.unwrap().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains("`hangs`"), "{error}");
    assert_eq!(run.count().await.unwrap(), 0);
}
