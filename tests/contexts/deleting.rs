//! Taking messages out of channels from inside handlers.

use dex::prelude::*;

use crate::support::{ALL, IN_MEMORY, each_way, engine};

/// Throws away what is odd before it waits, what is above ten in a step, and what an RPC says.
struct Sorter;

#[flow(output = Vec<u32>)]
impl Sorter {
    #[channel]
    const IN: Channel<u32>;

    #[channel]
    const BOXES: ChannelMap<String, u32>;

    #[channel]
    const SAID: Channel<String>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        for (number, message) in ctx.numbered_messages(Self::IN)? {
            if message > 10 {
                assert!(ctx.delete_message(Self::IN, number)?);
                assert!(!ctx.delete_message(Self::IN, number)?, "it is gone");
            }
        }
        assert!(!ctx.delete_message(Self::IN, 99)?, "there is no such message");
        ctx.publish(Self::IN, 8)?;
        // What it published has no number yet.
        let numbered: Vec<_> =
            ctx.numbered_messages(Self::IN)?.into_iter().map(|(_, message)| message).collect();
        let (all, size) = (ctx.messages(Self::IN)?, ctx.size(Self::IN)?);
        ctx.publish(Self::SAID, format!("step sees {numbered:?} of {all:?}, {size}"))?;
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn even(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, Vec<u32>> {
        for (number, message) in ctx.numbered_messages(Self::IN)? {
            if message % 2 == 1 {
                ctx.delete_message(Self::IN, number)?;
            }
        }
        ctx.publish(Self::SAID, format!("wait sees {:?}", ctx.messages(Self::IN)?))?;
        Ok(Wait::one(Self::IN.between(3, 9)))
    }

    #[step]
    async fn take(&self, _input: (), even: Vec<u32>) -> StepResult<Self> {
        Ok(Next::complete(even))
    }

    #[rpc]
    async fn empty(&self, ctx: &mut RpcContext<Self>, key: String) -> RpcResult<Vec<String>> {
        for (number, _) in ctx.numbered_messages(Self::BOXES.at(&key))? {
            ctx.delete_message(Self::BOXES.at(&key), number)?;
        }
        assert_eq!(ctx.size(Self::BOXES.at(&key))?, 0);
        ctx.keys(Self::BOXES)
    }

    /// Deletes the message if it is there, once others had their turn.
    #[rpc]
    async fn throw_away(&self, ctx: &mut RpcContext<Self>, number: u64) -> RpcResult<bool> {
        let found = ctx.delete_message(Self::IN, number)?;
        tokio::task::yield_now().await;
        Ok(found)
    }
}

#[tokio::test]
async fn a_handler_takes_messages_out_and_sees_that_they_are_gone() {
    each_way(
        ALL,
        || Sorter,
        async |t| {
            let start = t.client().start("r", ());
            let numbers = [1, 12, 2, 3, 4, 50];
            let start = numbers.into_iter().fold(start, |start, number| start.publish(Sorter::IN, number));
            start.await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), [2, 4, 8]);
            let said = ["step sees [1, 2, 3, 4] of [1, 2, 3, 4, 8], 5", "wait sees [2, 4, 8]"];
            assert_eq!(run.messages(Sorter::SAID).await.unwrap(), said, "{:?}", t.way);
            assert_eq!(run.result().await.unwrap().unconsumed_messages(), 2, "only what was said is left");
        },
    )
    .await;
}

#[tokio::test]
async fn a_channel_of_a_map_that_was_emptied_has_no_key() {
    each_way(
        IN_MEMORY,
        || Sorter,
        async |t| {
            let run = t.client().start("r", ()).await.unwrap();
            for (key, message) in [("a", 1), ("b", 2), ("b", 3)] {
                run.publish(Sorter::BOXES.at(key), message).await.unwrap();
            }
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.empty("b".into()).await.unwrap(), ["a"]);
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.keys(Sorter::BOXES).await.unwrap(), ["a"]);
        },
    )
    .await;
}

#[tokio::test]
async fn of_two_transactions_one_has_deleted_a_message() {
    let t = engine(Sorter).await;
    let run = t.client::<Sorter>().start("r", ()).await.unwrap();
    t.settle().await;
    run.publish(Sorter::IN, 2).await.unwrap();
    t.settle().await;
    // Number 1 is what the step published itself.
    let (a, b) = tokio::join!(run.throw_away(2), run.throw_away(2));
    let mut found = [a.unwrap(), b.unwrap()];
    found.sort_unstable();
    assert_eq!(found, [false, true], "the second one ran again and saw that it is gone");
    assert_eq!(run.messages(Sorter::IN).await.unwrap(), [8]);
}

#[tokio::test]
async fn a_unit_test_sees_what_a_handler_deletes() {
    let mut ctx = StepContext::test().publish(Sorter::IN, 1).publish(Sorter::IN, 70).build();
    let next = Sorter.begin(&mut ctx).await.unwrap();
    assert_eq!((ctx.deleted(Sorter::IN), next.steps()), (vec![2], vec!["take"]));
    let mut ctx = WaitContext::test().publish(Sorter::IN, 1).publish(Sorter::IN, 70).build();
    let wait = Sorter.even(&mut ctx).unwrap();
    assert_eq!((ctx.deleted(Sorter::IN), wait.in_words().as_str()), (vec![1], "IN.between(3, 9)"));
    let mut ctx = RpcContext::test().publish(Sorter::BOXES.at("a"), 1).build();
    assert!(Sorter.empty(&mut ctx, "a".into()).await.unwrap().is_empty());
    assert_eq!(ctx.deleted(Sorter::BOXES.at("a")), [1]);
}
