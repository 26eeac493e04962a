//! Values, keys and ids that are over their limits.

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::TestEngine;
use dex::{ChildResult, Error, ErrorKind, FailureKind, SubFlow, testing};
use serde_json::json;

use crate::Small;
use crate::support::{Counter, engine, hours};

/// Most bytes of a value.
const VALUE_MAX: usize = 1024 * 1024;

/// A text that is one byte more than a value may have, once it is in quotes.
fn oversize() -> String {
    "x".repeat(VALUE_MAX - 1)
}

/// What a text says that is about such a value.
#[track_caller]
fn says(text: &str, field: &str) {
    for word in [field, "takes 1048577 bytes", "the limit is 1048576"] {
        assert!(text.contains(word), "no `{word}`: {text}");
    }
}

/// Gives a text of so many bytes to wherever it is told.
#[derive(Default)]
struct Big {
    calls: Counter,
    recovered: Counter,
}

#[flow(output = String)]
impl Big {
    #[attribute]
    const TEXT: Attribute<String>;
    #[attribute]
    const BY_KEY: AttributeMap<String, String>;
    #[channel]
    const TEXTS: Channel<String>;
    #[channel]
    const TEXTS_BY_KEY: ChannelMap<String, String>;
    #[stream]
    const ITEMS: Stream<String>;

    #[step(start, on_failure = recovered)]
    async fn begin(&self, ctx: &mut StepContext<Self>, place: String) -> StepResult<Self> {
        self.calls.add();
        Ok(match place.as_str() {
            "attribute" => {
                ctx.set(Self::TEXT, oversize())?;
                Next::dead_end()
            }
            "entry" => {
                ctx.set(Self::BY_KEY.at("a"), oversize())?;
                Next::dead_end()
            }
            "key" => {
                ctx.set(Self::BY_KEY.at(&"k".repeat(513)), String::new())?;
                Next::dead_end()
            }
            "message" => {
                ctx.publish(Self::TEXTS, oversize())?;
                Next::dead_end()
            }
            "checkpoint" => {
                ctx.checkpoint(&oversize())?;
                Next::dead_end()
            }
            "item" => {
                ctx.append(Self::ITEMS, oversize())?;
                Next::dead_end()
            }
            "text" => {
                ctx.text(Self::ITEMS).push(&oversize()).await?;
                Next::dead_end()
            }
            "input" => Next::to(Self::NEXT, oversize()),
            "output" => Next::complete(oversize()),
            _ => Next::to(Self::WAIT, place),
        })
    }

    #[step]
    async fn recovered(&self, _place: String) -> StepResult<Self> {
        self.recovered.add();
        Ok(Next::dead_end())
    }

    #[step]
    async fn next(&self, _input: String) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[wait_for(wait)]
    fn a_text(&self, ctx: &mut WaitContext<Self>, place: &String) -> WaitResult<Self, (String, String)> {
        self.calls.add();
        match place.as_str() {
            "wait: attribute" => ctx.set(Self::TEXT, oversize())?,
            "wait: message" => ctx.publish(Self::TEXTS, oversize())?,
            _ => {}
        }
        let local = if place == "wait: local" { oversize() } else { String::new() };
        Ok(Wait::one(Self::TEXTS.one()).with(local))
    }

    #[step(on_failure = recovered)]
    async fn wait(&self, _place: String, (text, _local): (String, String)) -> StepResult<Self> {
        Ok(Next::complete(text.len().to_string()))
    }

    #[wait_for(ask)]
    fn a_child(&self, place: &String) -> WaitResult<Self, ChildResult<Small>> {
        self.calls.add();
        let child = match place.as_str() {
            "input" => SubFlow::<Small>::run(oversize()),
            _ => SubFlow::<Small>::run(String::new()).with(Small::TEXT, oversize()),
        };
        Ok(Wait::one(child))
    }

    #[step(entry)]
    async fn ask(&self, _place: String, _end: ChildResult<Small>) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[rpc]
    async fn length(&self, _ctx: &RpcContext<Self>, text: String) -> RpcResult<usize> {
        Ok(text.len())
    }

    #[rpc]
    async fn answer(&self, ctx: &mut RpcContext<Self>, length: usize) -> RpcResult<String> {
        ctx.set(Self::TEXT, "an answer was given".to_owned())?;
        Ok("x".repeat(length))
    }

    #[rpc]
    async fn stage(&self, ctx: &mut RpcContext<Self>, place: String) -> RpcResult<()> {
        ctx.set(Self::BY_KEY.at("staged"), "before".to_owned())?;
        match place.as_str() {
            "attribute" => ctx.set(Self::TEXT, oversize())?,
            "message" => ctx.publish(Self::TEXTS, oversize())?,
            "step" => ctx.start_step(Self::NEXT, oversize())?,
            place => ctx.start_step(Self::ASK, place.trim_start_matches("child: ").to_owned())?,
        }
        Ok(())
    }
}

async fn started() -> (TestEngine, dex::Run<Big>) {
    let t = testing::engine().flow(Big::default()).flow(Small).start().await.unwrap();
    let run = t.client::<Big>().start("r", "wait".into()).await.unwrap();
    t.settle().await;
    (t, run)
}

/// From callers: refused, with nothing changed.
#[tokio::test]
async fn an_oversize_value_from_a_caller_is_refused_in_every_direction() {
    let (t, run) = started().await;
    let client = t.client::<Big>();
    let tools = t.dex().dynamic();
    let by_name = tools.run("r").await.unwrap();
    let text = || json!(oversize());
    let before = run.describe().await.unwrap().transitions;
    let rows: Vec<(&str, Error)> = vec![
        ("input for the start step", client.start("s", oversize()).await.err().unwrap()),
        (
            "attribute `TEXT`",
            client.start("s", "wait".into()).with(Big::TEXT, oversize()).await.err().unwrap(),
        ),
        (
            "channel `TEXTS`",
            client.start("s", "wait".into()).publish(Big::TEXTS, oversize()).await.err().unwrap(),
        ),
        ("channel `TEXTS`", run.publish(Big::TEXTS, oversize()).await.err().unwrap()),
        (
            "channel `TEXTS_BY_KEY[a]`",
            run.publish(Big::TEXTS_BY_KEY.at("a"), oversize()).await.err().unwrap(),
        ),
        ("attribute `TEXT`", run.set(Big::TEXT, oversize()).await.err().unwrap()),
        ("attribute `BY_KEY[a]`", run.set(Big::BY_KEY.at("a"), oversize()).await.err().unwrap()),
        ("attribute `TEXT`", run.update(Big::TEXT, |_| oversize()).await.err().unwrap()),
        ("argument of RPC `length`", run.length(oversize()).await.err().unwrap()),
        ("stream `ITEMS`", run.append(Big::ITEMS, oversize()).await.err().unwrap()),
        ("input for step `next`", run.redirect_step("wait-1", Big::NEXT, oversize()).await.err().unwrap()),
        ("input", tools.start("Big", "s", text()).await.err().unwrap()),
        ("`TEXT`", tools.start("Big", "s", json!("wait")).with("TEXT", text()).await.err().unwrap()),
        ("`TEXTS`", by_name.publish("TEXTS", text()).await.err().unwrap()),
        ("`TEXT`", by_name.set("TEXT", text()).await.err().unwrap()),
        ("argument of RPC `length`", by_name.call("length", text()).await.err().unwrap()),
        ("`ITEMS`", by_name.append("ITEMS", text()).await.err().unwrap()),
        ("step `next`", by_name.redirect_step("wait-1", "next", text()).await.err().unwrap()),
    ];
    for (field, error) in rows {
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error:?}");
        says(&error.to_string(), field);
    }
    assert!(client.run("s").await.err().unwrap().is_not_found());
    assert_eq!(run.describe().await.unwrap().transitions, before, "nothing was changed");
    // A byte less goes through.
    run.set(Big::TEXT, "x".repeat(VALUE_MAX - 2)).await.unwrap();
    assert_eq!(run.length("x".repeat(VALUE_MAX - 2)).await.unwrap(), VALUE_MAX - 2);
}

/// From RPCs: the caller is told, and nothing that the handler wrote is there.
#[tokio::test]
async fn an_oversize_value_from_an_rpc_fails_it_as_a_whole() {
    let (_t, run) = started().await;
    let before = run.describe().await.unwrap().transitions;
    let rows = [
        ("the answer", run.answer(VALUE_MAX - 1).await.err().unwrap()),
        ("attribute `TEXT`", run.stage("attribute".into()).await.err().unwrap()),
        ("channel `TEXTS`", run.stage("message".into()).await.err().unwrap()),
        ("input for step `next`", run.stage("step".into()).await.err().unwrap()),
    ];
    for (field, error) in rows {
        assert_eq!(error.kind(), ErrorKind::RpcFailed, "{error:?}");
        says(&error.to_string(), field);
    }
    assert_eq!(run.describe().await.unwrap().transitions, before, "nothing was changed");
    assert_eq!(run.answer(VALUE_MAX - 2).await.unwrap().len(), VALUE_MAX - 2);
}

/// From steps and waits: parked with the reason, at the first attempt, past every recovery step.
#[tokio::test]
async fn an_oversize_value_from_a_handler_parks_its_step_at_the_first_attempt() {
    let rows = [
        ("attribute", "attribute `TEXT`", 1),
        ("entry", "attribute `BY_KEY[a]`", 1),
        ("message", "channel `TEXTS`", 1),
        ("checkpoint", "the checkpoint", 1),
        ("item", "stream `ITEMS`", 1),
        ("text", "stream `ITEMS`", 1),
        ("input", "input for step `next`", 1),
        ("output", "the output", 1),
        ("wait: attribute", "attribute `TEXT`", 2),
        ("wait: message", "channel `TEXTS`", 2),
        ("wait: local", "the value beside a wait", 2),
    ];
    for (place, field, calls) in rows {
        let t = engine(Big::default()).await;
        let run = t.client::<Big>().start("r", place.into()).await.unwrap();
        t.advance(hours(10)).await;
        is_parked(&run, field).await;
        let flow = t.flow::<Big>();
        assert_eq!((flow.calls.get(), flow.recovered.get()), (calls, 0), "{place} was tried again");
        let info = run.describe().await.unwrap();
        assert!(info.channels.is_empty(), "{place}: {info:?}");
        assert_eq!(run.get(Big::TEXT).await.unwrap(), None, "{place}");
    }
}

#[tokio::test]
async fn an_oversize_value_for_a_child_parks_the_step_that_asks_for_it() {
    for (place, field) in
        [("child: input", "sub-flow `Small`"), ("child: attribute", "attribute `TEXT` of a sub-flow")]
    {
        let (t, run) = started().await;
        run.stage(place.into()).await.unwrap();
        t.advance(hours(10)).await;
        let info = run.describe().await.unwrap();
        let asks = info.steps.iter().find(|step| step.id == "ask-1").unwrap();
        assert_eq!((asks.phase, asks.failures), (StepPhase::Parked, 1), "{place}");
        says(&asks.last_failure.as_ref().unwrap().message, field);
        assert!(info.children.is_empty());
    }
}

/// Keys, ids and names have limits of their own, and say so alike.
#[tokio::test]
async fn a_key_or_an_id_over_its_limit_is_refused_with_its_size_and_the_limit() {
    let (t, run) = started().await;
    let client = t.client::<Big>();
    let long = "k".repeat(513);
    let rows = [
        ("map key", run.set(Big::BY_KEY.at(&long), String::new()).await.err().unwrap()),
        ("map key", run.get(Big::BY_KEY.at(&long)).await.err().unwrap()),
        ("map key", run.publish(Big::TEXTS_BY_KEY.at(&long), String::new()).await.err().unwrap()),
        (
            "map key",
            t.dex().dynamic().run("r").await.unwrap().set(("BY_KEY", &*long), json!("")).await.err().unwrap(),
        ),
        ("flow id", client.start(&long, String::new()).await.err().unwrap()),
        ("flow id", client.run(&long).await.err().unwrap()),
    ];
    for (field, error) in rows {
        let text = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::InvalidId | ErrorKind::InvalidValue), "{error:?}");
        assert!(text.contains(field) && text.contains("513 bytes, the limit is 512"), "{text}");
    }
    let request = run.request_id("q".repeat(129)).err().unwrap().to_string();
    assert!(request.contains("129 bytes, the limit is 128"), "{request}");
    let t = engine(Big::default()).await;
    let run = t.client::<Big>().start("r", "key".into()).await.unwrap();
    t.advance(hours(10)).await;
    let info = run.describe().await.unwrap();
    assert_eq!((info.steps[0].phase, info.steps[0].failures), (StepPhase::Parked, 1));
    assert!(info.explain().contains("513 bytes, the limit is 512"), "{}", info.explain());
}

async fn is_parked(run: &dex::Run<Big>, field: &str) {
    let info = run.describe().await.unwrap();
    let step = info.steps.first().unwrap_or_else(|| panic!("{field}: {info:?}"));
    assert_eq!((step.phase, step.failures), (StepPhase::Parked, 1), "{field}: {info:?}");
    let failure = step.last_failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Unworkable);
    says(&failure.message, field);
    says(&info.explain(), field);
}
