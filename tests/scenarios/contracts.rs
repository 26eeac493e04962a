//! Rows 97 to 112: what is checked without a run, names, and what errors say.

use dex::prelude::*;
use dex::{ErrorKind, Reuse, Status};
use serde_json::json;

use crate::support::{IN_MEMORY, each_way, seconds};

/// Its names hold what paths hold.
struct Slashes;

#[flow(output = String, name = "shop/orders")]
impl Slashes {
    #[attribute(name = "order/state")]
    const STATE: Attribute<String>;
    #[channel(name = "order/words")]
    const WORDS: Channel<String>;

    #[wait_for(listen)]
    fn a_word(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::WORDS.one()))
    }

    #[step(start, name = "order/listen")]
    async fn listen(&self, ctx: &mut StepContext<Self>, _input: (), word: String) -> StepResult<Self> {
        ctx.set(Self::STATE, word)?;
        Ok(Next::complete(ctx.execution_id()))
    }

    #[rpc(name = "order/say")]
    async fn say(&self, ctx: &mut RpcContext<Self>, word: String) -> RpcResult<()> {
        ctx.publish(Self::WORDS, word)
    }

    #[rpc(name = "order/refuse")]
    async fn refuse(&self, _ctx: &mut RpcContext<Self>, why: String) -> RpcResult<()> {
        Err(RpcError::new(why))
    }
}

/// Row 102
// What else is looked up there, the kind and the type of a handle, is in its Rust type.
#[tokio::test]
async fn names_may_hold_slashes_wherever_they_are_used() {
    each_way(
        IN_MEMORY,
        || Slashes,
        async |t| {
            t.client().start("a/b", ()).await.unwrap();
            t.phase().await;
            let run = t.dex().dynamic().run("a/b").await.unwrap();
            assert_eq!(run.definition().name, "shop/orders");
            run.call("order/say", json!("hello")).await.unwrap();
            t.phase().await;
            let run = t.client().run("a/b").await.unwrap();
            run.wait_for_step(Slashes::LISTEN, 1).timeout(seconds(1)).await.unwrap();
            assert_eq!(run.output().await.unwrap(), "order/listen-1");
            assert_eq!(run.get(Slashes::STATE).await.unwrap().as_deref(), Some("hello"));
            let run = t.dex().dynamic().run("a/b").await.unwrap();
            assert_eq!(run.get("order/state").await.unwrap(), Some(json!("hello")));
        },
    )
    .await;
}

/// Row 107
#[tokio::test]
async fn every_error_has_a_kind_of_its_own_and_names_what_it_is_about() {
    each_way(
        IN_MEMORY,
        || Slashes,
        async |t| {
            t.client().start("order-17", ()).await.unwrap();
            t.phase().await;
            let (client, run) = (t.client(), t.client().run("order-17").await.unwrap());
            let taken = client.start("order-17", ()).reuse(Reuse::AllowIfFailed).await.unwrap_err();
            let unknown = client.run("order-18").await.unwrap_err();
            let refused = run.refuse("not today".into()).await.unwrap_err();
            let late = run.wait_for_step(Slashes::LISTEN, 2).timeout(seconds(0)).await.unwrap_err();
            let named = t.dex().dynamic().run("order-17").await.unwrap().get("state").await.unwrap_err();
            run.stop(dex::Stop::Fail, "no stock").await.unwrap();
            t.phase().await;
            let run = t.client().run("order-17").await.unwrap();
            let closed = run.say("hello".into()).await.unwrap_err();
            let failed = run.output().await.unwrap_err();
            let of_end = |error: &dex::Error| error.existing_run();
            assert_eq!(of_end(&taken), Some((run.run_id(), Status::Running)));
            assert_eq!(of_end(&closed), Some((run.run_id(), Status::Failed)));
            assert_eq!(of_end(&failed), Some((run.run_id(), Status::Failed)));
            assert_eq!(refused.failure().unwrap().message, "not today");
            let told = [
                (taken, ErrorKind::AlreadyStarted, ["order-17", "client.run"]),
                (unknown, ErrorKind::NotFound, ["order-18", "run"]),
                (refused, ErrorKind::RpcFailed, ["order/refuse", "not today"]),
                (late, ErrorKind::Timeout, ["order-17", "order/listen-2"]),
                (named, ErrorKind::UnknownName, ["state", "order/state"]),
                (closed, ErrorKind::Closed, ["order-17", "Failed"]),
                (failed, ErrorKind::RunFailed, ["order-17", "no stock"]),
            ];
            for (error, kind, words) in told {
                assert_eq!(error.kind(), kind, "{error}");
                assert!(
                    words.iter().all(|word| error.to_string().contains(word)),
                    "{error} lacks one of {words:?}"
                );
            }
        },
    )
    .await;
}
