//! Starting a run and calling one of its RPCs, in one commit.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::testing::{self, TestEngine};
use dex::{Client, ErrorKind, Reuse, Status};
use serde_json::json;
use support::{ALL, Counter, each_way, engine};

/// A basket: items are added by calls, and it is sent once it is told to go.
#[derive(Default)]
struct Basket {
    calls: Counter,
}

#[flow(output = String)]
impl Basket {
    #[attribute]
    const OWNER: Attribute<String>;
    #[attribute]
    const ITEMS: Attribute<Vec<String>>;
    #[channel]
    const GO: Channel<String>;

    #[step(start)]
    async fn begin(&self, owner: String) -> StepResult<Self> {
        Ok(Next::to(Self::SEND, owner))
    }

    #[wait_for(send)]
    fn go(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn send(&self, ctx: &mut StepContext<Self>, owner: String, to: String) -> StepResult<Self> {
        let items = ctx.require(Self::ITEMS)?.join(" and ");
        Ok(Next::complete(format!("{items} of {owner} to {to}")))
    }

    #[step(entry)]
    async fn aside(&self, ctx: &mut StepContext<Self>, item: String) -> StepResult<Self> {
        let mut items = ctx.get(Self::ITEMS)?.unwrap_or_default();
        items.push(item);
        ctx.set(Self::ITEMS, items)?;
        Ok(Next::dead_end())
    }

    /// Adds an item, and says how many there are, who owns the basket, and how many want it to go.
    #[rpc]
    async fn add(
        &self,
        ctx: &mut RpcContext<Self>,
        item: String,
    ) -> RpcResult<(usize, Option<String>, usize)> {
        self.calls.add();
        if item.is_empty() {
            return Err(RpcError::new("nothing to add"));
        }
        let mut items = ctx.get(Self::ITEMS)?.unwrap_or_default();
        items.push(item);
        let count = items.len();
        ctx.set(Self::ITEMS, items)?;
        Ok((count, ctx.get(Self::OWNER)?, ctx.size(Self::GO)?))
    }

    #[rpc]
    async fn send_at_once(&self, ctx: &mut RpcContext<Self>, item: String) -> RpcResult<()> {
        ctx.set(Self::ITEMS, vec![item.clone()])?;
        ctx.start_step(Self::ASIDE, item)?;
        ctx.publish(Self::GO, "home".into())
    }

    #[rpc]
    async fn count(&self, ctx: &RpcContext<Self>) -> RpcResult<usize> {
        Ok(ctx.get(Self::ITEMS)?.unwrap_or_default().len())
    }
}

/// How often an RPC was called.
fn calls(t: &TestEngine) -> usize {
    t.flow::<Basket>().calls.get()
}

async fn begin() -> (TestEngine, Client<Basket>) {
    let t = engine(Basket::default()).await;
    let client = t.client();
    (t, client)
}

#[tokio::test]
async fn a_call_sees_what_the_run_starts_with_and_is_part_of_the_commit_that_creates_it() {
    each_way(ALL, Basket::default, async |t| {
        let start = t.client().start("r", "ada".to_owned());
        let start = start.with(Basket::OWNER, "ada".into()).publish(Basket::GO, "work".into());
        let (run, answer) = start.call(|run| async move { run.add("tea".into()).await }).await.unwrap();
        assert_eq!(answer, (1, Some("ada".to_owned()), 1), "{:?}", t.way);
        assert_eq!(run.flow_id().as_str(), "r");
        t.phase().await;
        assert_eq!(t.run().await.output().await.unwrap(), "tea of ada to work", "{:?}", t.way);
    })
    .await;
}

#[tokio::test]
async fn all_of_it_is_the_first_transition_of_the_run() {
    let (t, client) = begin().await;
    let start = client.start("r", "ada".to_owned()).with(Basket::OWNER, "ada".into());
    let (run, ()) = start.call(|run| async move { run.send_at_once("tea".into()).await }).await.unwrap();
    let first = run.history().page(1).await.unwrap();
    let of_first = first[0].events.iter().map(|event| event.name);
    assert_eq!(
        of_first.collect::<Vec<_>>(),
        [
            "RunStarted",
            "AttributeSet",
            "StepScheduled",
            "RpcApplied",
            "AttributeSet",
            "MessagePublished",
            "StepScheduled"
        ]
    );
    assert_eq!(run.output().await.unwrap(), "tea and tea of ada to home");
    drop(t);
}

#[tokio::test]
async fn a_call_that_is_refused_starts_nothing_and_ends_nobody() {
    let (t, client) = begin().await;
    let refuse = || client.start("r", "ada".to_owned());
    let error = refuse().call(|run| async move { run.add(String::new()).await }).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::RpcFailed, "{error}");
    assert!(error.to_string().contains("nothing to add"), "{error}");
    assert!(client.run("r").await.err().unwrap().is_not_found());

    let first = refuse().await.unwrap();
    let second = refuse().reuse(Reuse::TerminateIfRunning);
    second.call(|run| async move { run.add(String::new()).await }).await.unwrap_err();
    assert_eq!(first.describe().await.unwrap().status, Status::Running);
    let second = refuse().reuse(Reuse::TerminateIfRunning);
    let (second, _) = second.call(|run| async move { run.add("tea".into()).await }).await.unwrap();
    assert_eq!(first.result().await.unwrap().status(), Status::Terminated);
    assert_eq!(second.count().await.unwrap(), 1);
    drop(t);
}

#[tokio::test]
async fn an_id_that_is_taken_is_told_before_anything_is_called() {
    let (t, client) = begin().await;
    let start = || client.start("r", "ada".to_owned());
    let run = start().await.unwrap();
    let error = start().call(|run| async move { run.add("tea".into()).await }).await.err().unwrap();
    assert_eq!(error.existing_run(), Some((run.run_id(), Status::Running)));
    assert_eq!((calls(&t), run.count().await.unwrap()), (0, 0));
}

#[tokio::test]
async fn a_repeated_start_gets_the_first_answer_and_calls_nothing() {
    each_way(ALL, Basket::default, async |t| {
        for _ in 0..3 {
            let start = t.client().start("r", "ada".to_owned()).request_id("s");
            let (_, answer) = start.call(|run| async move { run.add("tea".into()).await }).await.unwrap();
            assert_eq!(answer, (1, None, 0), "{:?}", t.way);
            t.phase().await;
        }
        assert_eq!(t.run().await.count().await.unwrap(), 1, "{:?}", t.way);
        let start = || t.client().start("r", "ada".to_owned()).request_id("s");
        let other = start().call(|run| async move { run.add("coffee".into()).await }).await.err().unwrap();
        assert_eq!(other.kind(), ErrorKind::RequestMismatch);
        assert_eq!(start().await.err().unwrap().kind(), ErrorKind::RequestMismatch);
    })
    .await;
}

#[tokio::test]
async fn of_many_starts_with_a_call_one_wins() {
    let (t, client) = begin().await;
    let start = |n: u32| {
        let client = client.clone();
        tokio::spawn(async move {
            let start = client.start("r", n.to_string());
            start.call(move |run| async move { run.add(n.to_string()).await }).await.is_ok()
        })
    };
    let all: Vec<_> = (0..20).map(start).collect();
    let mut won = 0;
    for one in all {
        won += usize::from(one.await.unwrap());
    }
    assert_eq!((won, client.run("r").await.unwrap().count().await.unwrap()), (1, 1));
    drop(t);
}

#[tokio::test]
async fn a_query_may_be_called_too() {
    let (_t, client) = begin().await;
    let start = client.start("r", "ada".to_owned()).with(Basket::ITEMS, vec!["tea".into()]);
    let (run, count) = start.call(|run| async move { run.count().await }).await.unwrap();
    assert_eq!(count, 1);
    assert_eq!(run.describe().await.unwrap().status, Status::Running);
}

#[tokio::test]
async fn a_start_calls_one_rpc_and_nothing_else() {
    let (t, client) = begin().await;
    let start = |id: &str| client.start(id, "ada".to_owned());
    let none = start("none").call(|_run| async { Ok(()) }).await.err().unwrap();
    assert_eq!(none.kind(), ErrorKind::InvalidSetup, "{none}");
    let both = start("both")
        .call(|run| async move { tokio::try_join!(run.add("a".into()), run.add("b".into())) })
        .await
        .err()
        .unwrap();
    assert!(both.to_string().contains("`add` is a second one"), "{both}");
    let request = start("request")
        .call(|run| async move { run.request_id("x")?.add("a".into()).await })
        .await
        .err()
        .unwrap();
    assert_eq!(request.kind(), ErrorKind::InvalidSetup, "{request}");
    let other = start("other").call(|run| async move { run.describe().await }).await.err().unwrap();
    assert!(other.to_string().contains("is not started yet"), "{other}");
    for id in ["none", "both", "request", "other"] {
        assert!(client.run(id).await.err().unwrap().is_not_found(), "{id}");
    }
    // One that does not wait for its answer is called all the same.
    let forgets = |run: dex::Run<Basket>| async move {
        let mut call = Box::pin(run.add("a".into()));
        std::future::poll_fn(|cx| {
            drop(call.as_mut().poll(cx));
            std::task::Poll::Ready(())
        })
        .await;
        Ok(7)
    };
    let (run, given) = start("forgets").call(forgets).await.unwrap();
    assert_eq!((given, run.count().await.unwrap()), (7, 1));
    drop(t);
}

#[tokio::test]
async fn a_start_by_name_calls_by_name() {
    let (t, client) = begin().await;
    let start = || t.dex().dynamic().start("Basket", "r", json!("ada")).with("OWNER", json!("ada"));
    let error = start().call("ad", json!("tea")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UnknownName, "{error}");
    let error = start().call("count", json!(1)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
    let error = start().call("add", json!(1)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
    assert!(client.run("r").await.err().unwrap().is_not_found());
    let (run, answer) = start().call("add", json!("tea")).await.unwrap();
    assert_eq!(answer, json!([1, "ada", 0]));
    assert_eq!(run.call("count", json!(null)).await.unwrap(), json!(1));
}

#[tokio::test]
async fn a_start_that_is_cut_short_by_a_fault_is_made_as_a_whole_or_not_at_all() {
    let t = testing::engine().flow(Basket::default()).start().await.unwrap();
    let client: Client<Basket> = t.client();
    for written in [false, true] {
        let id = format!("{written}");
        let at = if written { testing::FailAt::AfterWriting } else { testing::FailAt::BeforeWriting };
        t.settle().await;
        t.store().fail_commit(1, at);
        let start = || client.start(&id, "ada".to_owned()).request_id("s");
        let first = start().call(|run| async move { run.add("tea".into()).await }).await;
        assert_eq!(first.err().unwrap().kind(), ErrorKind::OutcomeUnknown);
        let (run, answer) = start().call(|run| async move { run.add("tea".into()).await }).await.unwrap();
        assert_eq!((answer.0, run.count().await.unwrap()), (1, 1), "{written}");
    }
}
