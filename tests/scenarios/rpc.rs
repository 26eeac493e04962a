//! Rows 50 to 58, 60 and 63: what calls of RPCs give, write and publish.

use dex::prelude::*;
use dex::{ErrorKind, Status, Stop};
use serde::{Deserialize, Serialize};

use crate::support::{ALL, IN_MEMORY, each_way};

/// Has no steps: it is counted up by calls.
struct Count;

#[flow(endless)]
impl Count {
    #[attribute]
    const NUMBER: Attribute<u32>;

    #[rpc(lock(NUMBER))]
    async fn increment(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        let number = ctx.get(Self::NUMBER)?.unwrap_or_default();
        // Others get their turn between the look and the commit.
        tokio::task::yield_now().await;
        ctx.set(Self::NUMBER, number + 1)
    }

    #[rpc]
    async fn number(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<u32>> {
        ctx.get(Self::NUMBER)
    }
}

/// Row 50
// Calls that meet are put in order: only a step that holds the lock has one refused, and here is none.
#[tokio::test]
async fn a_hundred_calls_of_ten_callers_under_one_lock_all_count() {
    each_way(
        IN_MEMORY,
        || Count,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let mut callers = Vec::new();
            for _ in 0..10 {
                let run = t.run().await;
                callers.push(tokio::spawn(async move {
                    for _ in 0..10 {
                        run.increment().await.unwrap();
                    }
                }));
            }
            for caller in callers {
                caller.await.unwrap();
            }
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.number().await.unwrap(), Some(100), "{:?}", t.way);
            run.cancel().await.unwrap();
            assert_eq!(run.number().await.unwrap(), Some(100));
        },
    )
    .await;
}

#[derive(Clone, Debug, PartialEq, Keyword, Serialize, Deserialize)]
enum Word {
    Old,
    New,
}

/// Waits for a message, which calls publish together with what they write.
struct Desk;

#[flow(output = u32)]
impl Desk {
    #[attribute]
    const DATA: Attribute<String>;
    #[attribute(index)]
    const WORD: Attribute<Word>;
    #[attribute(index)]
    const NUMBER: Attribute<i64>;
    #[channel]
    const GO: Channel<()>;

    #[wait_for(first)]
    fn told_to(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step(start)]
    async fn first(&self, _input: (), _go: ()) -> StepResult<Self> {
        Ok(Next::to(Self::OUTPUT, ()))
    }

    #[step]
    async fn output(&self) -> StepResult<Self> {
        Ok(Next::complete(2))
    }

    #[rpc]
    async fn publish_only(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.publish(Self::GO, ())
    }

    #[rpc]
    async fn set_data(&self, ctx: &mut RpcContext<Self>, data: Option<String>) -> RpcResult<()> {
        match data {
            Some(data) => ctx.set(Self::DATA, data)?,
            None => ctx.delete(Self::DATA)?,
        }
        Ok(())
    }

    #[rpc]
    async fn data(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<String>> {
        ctx.get(Self::DATA)
    }

    #[rpc]
    async fn set_word(&self, ctx: &mut RpcContext<Self>, word: Option<Word>) -> RpcResult<()> {
        match word {
            Some(word) => ctx.set(Self::WORD, word)?,
            None => ctx.delete(Self::WORD)?,
        }
        Ok(())
    }

    #[rpc]
    async fn word(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<Word>> {
        ctx.get(Self::WORD)
    }

    #[rpc]
    async fn function(&self, ctx: &mut RpcContext<Self>, text: String) -> RpcResult<u32> {
        write_all(ctx, text)?;
        Ok(100)
    }

    #[rpc]
    async fn function_of_nothing(&self, ctx: &mut RpcContext<Self>) -> RpcResult<u32> {
        write_all(ctx, "fixed".into())?;
        Ok(100)
    }

    #[rpc]
    async fn procedure(&self, ctx: &mut RpcContext<Self>, text: String) -> RpcResult<()> {
        write_all(ctx, text)
    }

    #[rpc]
    async fn procedure_of_nothing(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        write_all(ctx, "fixed".into())
    }

    #[rpc]
    async fn only_reads(&self, ctx: &RpcContext<Self>, text: String) -> RpcResult<u32> {
        Ok(if ctx.get(Self::DATA)?.as_ref() == Some(&text) { 100 } else { 0 })
    }
}

fn write_all(ctx: &mut RpcContext<Desk>, text: String) -> RpcResult<()> {
    ctx.delete(Desk::DATA)?;
    ctx.set(Desk::DATA, text)?;
    ctx.set(Desk::WORD, Word::New)?;
    ctx.set(Desk::NUMBER, 5)?;
    ctx.publish(Desk::GO, ())
}

/// Starts a run, calls it, and sees it end with `text` written, if there is one.
async fn called<T: PartialEq + std::fmt::Debug>(
    call: impl AsyncFn(&<Desk as Flow>::Run) -> T,
    answer: T,
    text: Option<&str>,
) {
    each_way(
        IN_MEMORY,
        || Desk,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            assert_eq!(call(&t.run().await).await, answer);
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), 2);
            assert_eq!(run.data().await.unwrap().as_deref(), text);
            assert_eq!(run.word().await.unwrap(), text.map(|_| Word::New));
            assert_eq!(run.get(Desk::NUMBER).await.unwrap(), text.map(|_| 5));
        },
    )
    .await;
}

/// Row 51
#[tokio::test]
async fn a_call_that_only_publishes_moves_the_run() {
    called(async |run| run.publish_only().await.unwrap(), (), None).await;
}

/// Rows 52 and 58a
#[tokio::test]
async fn a_call_with_an_argument_and_an_answer_writes_and_publishes_at_once() {
    called(async |run| run.function("rpc-input".into()).await.unwrap(), 100, Some("rpc-input")).await;
}

/// Rows 53 and 58b
#[tokio::test]
async fn a_call_without_an_argument_has_its_answer() {
    called(async |run| run.function_of_nothing().await.unwrap(), 100, Some("fixed")).await;
}

/// Rows 54a and 58c
#[tokio::test]
async fn a_call_without_an_answer_has_its_argument() {
    called(async |run| run.procedure("rpc-input".into()).await.unwrap(), (), Some("rpc-input")).await;
}

/// Rows 54b and 58d
#[tokio::test]
async fn a_call_with_neither_writes_all_the_same() {
    called(async |run| run.procedure_of_nothing().await.unwrap(), (), Some("fixed")).await;
}

/// Rows 52 and 58a
#[tokio::test]
async fn a_value_that_is_there_or_not_goes_through_calls_both_ways() {
    each_way(
        IN_MEMORY,
        || Desk,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            let text = Some(String::from("text"));
            for (data, word) in [(text.clone(), Some(Word::Old)), (None, None), (text, Some(Word::New))] {
                t.run().await.set_data(data.clone()).await.unwrap();
                t.run().await.set_word(word.clone()).await.unwrap();
                t.phase().await;
                assert_eq!(t.run().await.data().await.unwrap(), data);
                assert_eq!(t.run().await.word().await.unwrap(), word);
            }
        },
    )
    .await;
}

/// Rows 55 and 58e
#[tokio::test]
async fn a_query_is_answered_after_the_end_and_a_transaction_is_refused() {
    each_way(
        ALL,
        || Desk,
        async |t| {
            let run = t.client().start("r", ()).await.unwrap();
            run.set_data(Some("text".into())).await.unwrap();
            assert_eq!(run.only_reads("text".into()).await.unwrap(), 100);
            t.phase().await;
            t.run().await.stop(Stop::Fail, "no longer").await.unwrap();
            let run = t.run().await;
            assert_eq!(run.result().await.unwrap().status(), Status::Failed);
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.data().await.unwrap().as_deref(), Some("text"));
            assert_eq!(run.only_reads("text".into()).await.unwrap(), 100);
            let refused = run.set_data(None).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Closed);
            assert_eq!(refused.existing_run(), Some((run.run_id(), Status::Failed)));
            // A run is found before it is called, so an unknown one is told there.
            let unknown = t.client().run("nobody").await.unwrap_err();
            assert!(unknown.is_not_found() && unknown.to_string().contains("nobody"), "{unknown}");
        },
    )
    .await;
}

/// Row 60
#[tokio::test]
async fn a_flow_without_steps_is_called_and_canceled() {
    each_way(
        IN_MEMORY,
        || Count,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            t.run().await.increment().await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.number().await.unwrap(), Some(1));
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);
            t.run().await.cancel().await.unwrap();
            assert_eq!(t.run().await.result().await.unwrap().status(), Status::Canceled);
        },
    )
    .await;
}

/// Sees what a call wrote together with the message that it published.
struct Atomic;

#[flow(output = u32)]
impl Atomic {
    #[attribute]
    const STATUS: Attribute<String>;
    #[channel]
    const NUMBERS: Channel<u32>;
    /// Nobody takes from it.
    #[channel]
    const SPARE: Channel<u32>;

    #[wait_for(take)]
    fn a_number(&self) -> WaitResult<Self, u32> {
        Ok(Wait::one(Self::NUMBERS.one()))
    }

    #[step(start)]
    async fn take(&self, ctx: &mut StepContext<Self>, input: u32, number: u32) -> StepResult<Self> {
        let status = ctx.get(Self::STATUS)?;
        if number != input + 1 || status.as_deref() != Some("invoked") {
            return Ok(Next::fail(format!("{number} with {status:?}")));
        }
        Ok(Next::complete(number + 1))
    }

    #[rpc(lock(STATUS))]
    async fn increment(&self, ctx: &mut RpcContext<Self>, number: u32) -> RpcResult<(u32, bool)> {
        let found = ctx.get(Self::STATUS)?.is_some();
        ctx.set(Self::STATUS, "invoked".into())?;
        ctx.publish(Self::NUMBERS, number + 1)?;
        Ok((number + 1, found))
    }

    /// How many messages there are before and after it publishes so many.
    #[rpc]
    async fn publish_and_count(&self, ctx: &mut RpcContext<Self>, count: u32) -> RpcResult<(usize, usize)> {
        let before = ctx.size(Self::SPARE)?;
        (0..count).try_for_each(|number| ctx.publish(Self::SPARE, number))?;
        Ok((before, ctx.size(Self::SPARE)?))
    }

    #[rpc]
    async fn count(&self, ctx: &RpcContext<Self>) -> RpcResult<usize> {
        ctx.size(Self::SPARE)
    }

    #[rpc]
    async fn publish_and_refuse(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.publish(Self::SPARE, 0)?;
        Err(RpcError::new(format!("{} are enough", ctx.size(Self::SPARE)?)))
    }

    #[rpc]
    async fn refuse(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::STATUS, "refused".into())?;
        ctx.publish(Self::NUMBERS, 0)?;
        Err(RpcError::new("refused on purpose"))
    }
}

/// Row 63
#[tokio::test]
async fn a_write_and_a_message_of_a_call_are_there_together_and_those_of_a_refused_one_never() {
    each_way(
        ALL,
        || Atomic,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            let error = t.run().await.refuse().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::RpcFailed);
            assert_eq!(error.failure().unwrap().message, "refused on purpose");
            t.phase().await;
            assert_eq!(t.run().await.increment(1).await.unwrap(), (2, false));
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 3, "{:?}", t.way);
        },
    )
    .await;
}

/// Rows 57 and 63
#[tokio::test]
async fn a_call_counts_the_messages_that_it_has_published() {
    each_way(
        ALL,
        || Atomic,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.publish_and_count(1).await.unwrap(), (0, 1));
            let refused = t.run().await.publish_and_refuse().await.unwrap_err();
            assert_eq!(refused.failure().unwrap().message, "2 are enough");
            t.phase().await;
            assert_eq!(t.run().await.publish_and_count(1).await.unwrap(), (1, 2));
            assert_eq!(t.run().await.publish_and_count(3).await.unwrap(), (2, 5));
            t.phase().await;
            assert_eq!(t.run().await.count().await.unwrap(), 5, "{:?}", t.way);
        },
    )
    .await;
}
