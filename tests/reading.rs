//! Channels, looked into by handlers.
#![cfg(test)]

mod support;

use dex::prelude::*;
use support::{IN_MEMORY, each_way, engine};

/// Takes what is there in pairs, and says what it saw.
#[derive(Default)]
struct Pairs;

#[flow(output = Vec<String>)]
impl Pairs {
    #[channel]
    const IN: Channel<u32>;

    #[channel]
    const SEEN: Channel<String>;

    #[channel]
    const NUMBERS: Channel<u32>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, more: u32) -> StepResult<Self> {
        ctx.publish(Self::SEEN, format!("begin: {} and {:?}", ctx.size(Self::IN)?, ctx.messages(Self::IN)?))?;
        ctx.publish(Self::IN, more)?;
        ctx.publish(Self::SEEN, format!("then: {} and {:?}", ctx.size(Self::IN)?, ctx.messages(Self::IN)?))?;
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn two(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, Vec<u32>> {
        ctx.publish(Self::SEEN, format!("waits: {:?}", ctx.messages(Self::IN)?))?;
        Ok(Wait::one(Self::IN.n(2)))
    }

    #[step]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), two: Vec<u32>) -> StepResult<Self> {
        let left = ctx.messages(Self::IN)?;
        ctx.publish(Self::SEEN, format!("took {two:?}, left {left:?}"))?;
        if left.len() < 2 {
            return Ok(Next::complete(ctx.messages(Self::SEEN)?));
        }
        Ok(Next::to(Self::TAKE, ()))
    }

    /// Publishes how many messages there are, once others had their turn.
    #[rpc]
    async fn count(&self, ctx: &mut RpcContext<Self>) -> RpcResult<usize> {
        let size = ctx.size(Self::SEEN)?;
        tokio::task::yield_now().await;
        ctx.publish(Self::SEEN, format!("{size} before"))?;
        assert_eq!(ctx.size(Self::SEEN)?, size + 1, "what it published itself is there");
        Ok(size)
    }

    /// Publishes one more than the last message, once others had their turn.
    #[rpc]
    async fn follow(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        let last = ctx.messages(Self::NUMBERS)?.last().copied().unwrap_or_default();
        tokio::task::yield_now().await;
        ctx.publish(Self::NUMBERS, last + 1)
    }

    #[rpc]
    async fn look(&self, ctx: &RpcContext<Self>) -> RpcResult<(usize, Vec<u32>)> {
        Ok((ctx.size(Self::IN)?, ctx.messages(Self::IN)?))
    }
}

#[tokio::test]
async fn a_handler_sees_what_nobody_has_taken_and_what_it_publishes_itself() {
    each_way(
        IN_MEMORY,
        || Pairs,
        async |t| {
            let start = t.client().start("r", 4);
            start.publish(Pairs::IN, 1).publish(Pairs::IN, 2).publish(Pairs::IN, 3).await.unwrap();
            assert_eq!(
                t.run().await.output().await.unwrap(),
                [
                    "begin: 3 and [1, 2, 3]",
                    "then: 4 and [1, 2, 3, 4]",
                    "waits: [1, 2, 3, 4]",
                    "took [1, 2], left [3, 4]",
                    "waits: [3, 4]",
                    "took [3, 4], left []",
                ]
            );
            t.phase().await;
            // A query looks also into a run that has ended.
            assert_eq!(t.run().await.look().await.unwrap(), (0, vec![]));
        },
    )
    .await;
}

#[tokio::test]
async fn transactions_that_look_into_a_channel_are_put_in_order() {
    let t = engine(Pairs).await;
    let run = t.client::<Pairs>().start("r", 0).await.unwrap();
    t.settle().await;
    let before = run.messages(Pairs::SEEN).await.unwrap().len();
    let (a, b, c) = tokio::join!(run.count(), run.count(), run.count());
    let mut sizes = [a.unwrap(), b.unwrap(), c.unwrap()];
    sizes.sort_unstable();
    assert_eq!(sizes, [before, before + 1, before + 2], "none was counted twice");
}

#[tokio::test]
async fn transactions_that_read_messages_are_put_in_order() {
    let t = engine(Pairs).await;
    let run = t.client::<Pairs>().start("r", 0).await.unwrap();
    let (a, b, c) = tokio::join!(run.follow(), run.follow(), run.follow());
    for followed in [a, b, c] {
        followed.unwrap();
    }
    assert_eq!(run.messages(Pairs::NUMBERS).await.unwrap(), [1, 2, 3]);
    // What is deleted has changed as well.
    let (deleted, followed) = tokio::join!(run.delete_message(Pairs::NUMBERS, 3), run.follow());
    deleted.unwrap();
    followed.unwrap();
    assert_eq!(run.numbered_messages(Pairs::NUMBERS).await.unwrap(), [(1, 1), (2, 2), (4, 3)]);
}
