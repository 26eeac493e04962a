//! Flows by their names and values as JSON.
// The helpers are tests too, for the lints that spare tests.
#![cfg(test)]

use std::time::Duration;

use dex::prelude::*;
use dex::testing::{self, TestBuilder, TestEngine};
use dex::{DynClient, Error, ErrorKind, Reuse, Status, Stop, TimeoutPolicy};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: String,
    cents: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Waiting,
    Shipped,
}

struct OrderFlow;

#[flow(output = String)]
impl OrderFlow {
    #[attribute]
    const STAGE: Attribute<Stage>;

    #[attribute(name = "note on the order")]
    const NOTE: Attribute<String>;

    #[channel]
    const APPROVAL: Channel<String>;

    #[step(start)]
    async fn take(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        ctx.set(Self::STAGE, Stage::Waiting)?;
        Ok(Next::to(Self::SHIP, order))
    }

    #[wait_for(ship)]
    fn approved(&self, _order: &Order) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::APPROVAL.one()))
    }

    #[step]
    async fn ship(&self, ctx: &mut StepContext<Self>, order: Order, by: String) -> StepResult<Self> {
        ctx.set(Self::STAGE, Stage::Shipped)?;
        let note = ctx.get(Self::NOTE)?.unwrap_or_default();
        Ok(Next::complete(format!("{} for {} by {by}{note}", order.id, order.cents)))
    }

    #[rpc]
    async fn approve(&self, ctx: &mut RpcContext<Self>, by: String) -> RpcResult<usize> {
        if by == "nobody" {
            return Err(RpcError::new("nobody may approve"));
        }
        let length = by.len();
        ctx.publish(Self::APPROVAL, by)?;
        Ok(length)
    }

    #[rpc]
    async fn stage(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<Stage>> {
        ctx.get(Self::STAGE)
    }
}

/// A flow with nothing to name, which starts with nothing.
struct Bare;

#[flow]
impl Bare {
    #[step(start)]
    async fn only(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// Runs `scenario` straight on, and with a crash after every single transition.
async fn each_way(scenario: impl AsyncFn(&TestEngine, DynClient)) {
    let ways: [fn(TestBuilder) -> TestBuilder; 2] = [|way| way, TestBuilder::crash_after_every_transition];
    for way in ways {
        let engine = way(testing::engine().flow(OrderFlow).flow(Bare)).start().await.unwrap();
        scenario(&engine, engine.dex().dynamic()).await;
        engine.shutdown(Duration::ZERO).await.unwrap();
    }
}

async fn engine() -> (TestEngine, DynClient) {
    let engine = testing::engine().flow(OrderFlow).flow(Bare).start().await.unwrap();
    let client = engine.dex().dynamic();
    (engine, client)
}

fn order() -> Json {
    json!({ "id": "17", "cents": 4200 })
}

#[track_caller]
fn told(error: &Error, kind: ErrorKind, text: &str) {
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
}

#[tokio::test]
async fn a_run_is_started_called_and_read_by_names() {
    each_way(async |_, client| {
        let run = client.start("OrderFlow", "order-17", order()).await.unwrap();
        assert_eq!((run.flow_id().as_str(), run.definition().name), ("order-17", "OrderFlow"));
        assert_eq!(run.call("approve", json!("ada")).await.unwrap(), json!(3));
        assert_eq!(run.output().await.unwrap(), json!("17 for 4200 by ada"));
        assert_eq!(run.call("stage", Json::Null).await.unwrap(), json!("Shipped"));
        assert_eq!(run.get("STAGE").await.unwrap(), Some(json!("Shipped")));
        let result = run.result().await.unwrap();
        assert_eq!((result.status(), result.unconsumed_messages()), (Status::Completed, 0));
        assert_eq!(result.outputs().unwrap(), [("ship-1".to_owned(), json!("17 for 4200 by ada"))]);
    })
    .await;
}

#[tokio::test]
async fn a_run_is_started_with_attributes_and_messages() {
    each_way(async |_, client| {
        let start = client.start("OrderFlow", "order-17", order()).publish("APPROVAL", json!("ada"));
        let run = start.with("note on the order", json!(", gift")).await.unwrap();
        assert_eq!(run.output().await.unwrap(), json!("17 for 4200 by ada, gift"));
    })
    .await;
}

#[tokio::test]
async fn a_run_is_written_by_names() {
    each_way(async |engine, client| {
        client.start("OrderFlow", "order-17", order()).await.unwrap();
        engine.settle().await;
        let run = client.run("order-17").await.unwrap();
        run.set("note on the order", json!("!")).await.unwrap();
        run.set("STAGE", json!("Shipped")).await.unwrap();
        let all = run.attributes().await.unwrap();
        let all: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        assert_eq!(all, [("STAGE", json!("Shipped")), ("note on the order", json!("!"))]);
        run.delete("STAGE").await.unwrap();
        assert_eq!(run.get("STAGE").await.unwrap(), None);
        run.publish("APPROVAL", json!("ada")).await.unwrap();
        assert_eq!(run.output().await.unwrap(), json!("17 for 4200 by ada!"));
    })
    .await;
}

#[tokio::test]
async fn typed_and_dynamic_callers_meet_in_one_run() {
    let (engine, client) = engine().await;
    let typed = engine.client::<OrderFlow>();
    let run = typed.start("order-17", Order { id: "17".into(), cents: 1 }).await.unwrap();
    assert_eq!(client.run("order-17").await.unwrap().run_id(), run.run_id());
    client.run("order-17").await.unwrap().call("approve", json!("ada")).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "17 for 1 by ada");
    client.start("Bare", "bare", Json::Null).await.unwrap();
    assert_eq!(typed.run("bare").await.unwrap_err().kind(), ErrorKind::WrongFlow);
    assert_eq!(client.run("bare").await.unwrap().output().await.unwrap(), Json::Null);
}

#[tokio::test]
async fn messages_are_read_and_a_run_is_stopped_and_described() {
    each_way(async |engine, client| {
        let start = client.start("OrderFlow", "order-17", order());
        let run = start.publish("APPROVAL", json!("ada")).publish("APPROVAL", json!("bob")).await.unwrap();
        run.output().await.unwrap();
        assert_eq!(run.messages("APPROVAL").await.unwrap(), [json!("bob")]);

        let again = client.start("OrderFlow", "order-17", order()).reuse(Reuse::AllowIfClosed);
        let run = again.await.unwrap();
        engine.settle().await;
        let info = run.describe().await.unwrap();
        assert_eq!((info.flow.as_str(), info.steps.len()), ("OrderFlow", 1));
        run.stop(Stop::Terminate, "tidying up").await.unwrap();
        let result = run.result().await.unwrap();
        assert_eq!(result.status(), Status::Terminated);
        let error = result.output().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RunFailed);
        assert!(run.cancel().await.unwrap_err().is_closed());
        assert!(run.set("STAGE", json!("Shipped")).await.unwrap_err().is_closed());
    })
    .await;
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_terminated() {
    each_way(async |engine, client| {
        let run = client.start("OrderFlow", "order-17", order()).await.unwrap();
        engine.settle().await;
        run.pause().await.unwrap();
        run.publish("APPROVAL", json!("ada")).await.unwrap();
        engine.settle().await;
        assert_eq!(run.describe().await.unwrap().status, Status::Paused);
        run.resume().await.unwrap();
        assert_eq!(run.output().await.unwrap(), json!("17 for 4200 by ada"));

        let start = client.start("OrderFlow", "order-18", order()).timeout(Duration::from_hours(1));
        let run = start.on_timeout(TimeoutPolicy::Cancel).await.unwrap();
        engine.advance(Duration::from_hours(2)).await;
        assert_eq!(run.result().await.unwrap().status(), Status::Canceled);

        let run = client.start("OrderFlow", "order-19", order()).await.unwrap();
        run.terminate().await.unwrap();
        assert_eq!(run.result().await.unwrap().status(), Status::Terminated);
    })
    .await;
}

#[tokio::test]
async fn a_request_is_carried_out_once() {
    each_way(async |_, client| {
        let start = || client.start("OrderFlow", "order-17", order()).request_id("start-1");
        let run = start().with("STAGE", json!("Waiting")).await.unwrap();
        let again = start().with("STAGE", json!("Waiting")).await.unwrap();
        assert_eq!(again.run_id(), run.run_id());
        let other = start().with("STAGE", json!("Shipped")).await.unwrap_err();
        assert_eq!(other.kind(), ErrorKind::RequestMismatch);

        let request = run.request_id("note-1").unwrap();
        request.set("note on the order", json!(", first")).await.unwrap();
        run.set("note on the order", json!(", second")).await.unwrap();
        request.set("note on the order", json!(", first")).await.unwrap();
        assert_eq!(run.get("note on the order").await.unwrap(), Some(json!(", second")));
        let other = request.delete("note on the order").await.unwrap_err();
        assert_eq!(other.kind(), ErrorKind::RequestMismatch);

        let request = run.request_id("approve-1").unwrap();
        assert_eq!(request.call("approve", json!("ada")).await.unwrap(), json!(3));
        assert_eq!(request.call("approve", json!("ada")).await.unwrap(), json!(3));
        run.output().await.unwrap();
        assert_eq!(run.messages("APPROVAL").await.unwrap(), Vec::<Json>::new(), "one message was published");
    })
    .await;
}

#[tokio::test]
async fn definitions_are_listed_by_name() {
    let (_engine, client) = engine().await;
    let names: Vec<_> = client.definitions().iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["Bare", "OrderFlow"]);
    assert_eq!(client.definition("OrderFlow").unwrap().fingerprint(), OrderFlow::definition().fingerprint());
}

#[tokio::test]
async fn an_unknown_flow_is_told_with_the_nearest_and_all() {
    let (_engine, client) = engine().await;
    let text = "flow `Orderflow` is not registered, did you mean `OrderFlow`?; `Bare` and `OrderFlow` are";
    told(&client.definition("Orderflow").unwrap_err(), ErrorKind::UnknownFlow, text);
    let started = client.start("Orderflow", "order-17", order()).await;
    told(&started.unwrap_err(), ErrorKind::UnknownFlow, text);
    assert!(client.run("order-17").await.unwrap_err().is_not_found());

    let none = testing::engine().start().await.unwrap().dex().dynamic();
    let text = "flow `OrderFlow` is not registered; none is";
    told(&none.definition("OrderFlow").unwrap_err(), ErrorKind::UnknownFlow, text);
}

#[tokio::test]
async fn an_unknown_name_is_told_with_the_nearest_and_all() {
    let (_engine, client) = engine().await;
    let run = client.start("OrderFlow", "order-17", order()).await.unwrap();
    let bare = client.start("Bare", "bare", Json::Null).await.unwrap();
    let refused = [
        (
            run.call("aprove", json!("ada")).await.map(drop),
            "flow `OrderFlow` has no RPC `aprove`, did you mean `approve`?; it has `approve` and `stage`",
        ),
        (
            run.call("", Json::Null).await.map(drop),
            "flow `OrderFlow` has no RPC ``; it has `approve` and `stage`",
        ),
        (
            run.publish("approval-x", json!("ada")).await,
            "flow `OrderFlow` has no channel `approval-x`, did you mean `APPROVAL`?; it has `APPROVAL`",
        ),
        (
            run.set("NOTE", json!("x")).await,
            "flow `OrderFlow` has no attribute `NOTE`; it has `STAGE` and `note on the order`",
        ),
        (
            run.get("APPROVAL").await.map(drop),
            "flow `OrderFlow` has no attribute `APPROVAL`, it is the name of a channel; \
             it has `STAGE` and `note on the order`",
        ),
        (
            run.call("STAGE", Json::Null).await.map(drop),
            "flow `OrderFlow` has no RPC `STAGE`, it is the name of an attribute; \
             it has `approve` and `stage`",
        ),
        (bare.delete("x").await, "flow `Bare` has no attribute `x`; it has none"),
        (bare.messages("x").await.map(drop), "flow `Bare` has no channel `x`; it has none"),
    ];
    for (refused, text) in refused {
        told(&refused.unwrap_err(), ErrorKind::UnknownName, text);
    }
}

#[tokio::test]
async fn a_value_that_does_not_fit_is_refused_before_anything_changes() {
    let (engine, client) = engine().await;
    let start = |input: Json| client.start("OrderFlow", "order-17", input);
    let missing = start(json!({ "id": "17" })).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::InvalidValue);
    assert!(
        missing.to_string().starts_with("the input of flow `OrderFlow` does not fit type `"),
        "{missing}"
    );
    assert!(missing.to_string().contains("missing field `cents`"), "{missing}");
    let attribute = start(order()).with("STAGE", json!("Lost")).await.unwrap_err();
    assert_eq!(attribute.kind(), ErrorKind::InvalidValue);
    assert!(attribute.to_string().contains("unknown variant `Lost`"), "{attribute}");
    let message = start(order()).publish("APPROVAL", json!(7)).await.unwrap_err();
    assert_eq!(message.kind(), ErrorKind::InvalidValue);
    assert!(client.run("order-17").await.unwrap_err().is_not_found());
    let bare = client.start("Bare", "bare", json!(1)).await.unwrap_err();
    assert_eq!(bare.kind(), ErrorKind::InvalidValue);

    let run = start(order()).await.unwrap();
    engine.settle().await;
    let before = run.describe().await.unwrap();
    let refused = [
        (run.call("approve", json!(7)).await.map(drop), "RPC `approve` was not called: the argument"),
        (run.call("stage", json!(7)).await.map(drop), "RPC `stage` takes no argument"),
        (run.set("STAGE", json!({})).await, "the value of attribute `STAGE` does not fit"),
        (run.publish("APPROVAL", json!([])).await, "the message for channel `APPROVAL` does not fit"),
    ];
    for (refused, text) in refused {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
        assert!(error.to_string().starts_with(text), "{error}");
    }
    let large = json!("x".repeat(2 * 1024 * 1024));
    let error = run.set("note on the order", large).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert_eq!(run.describe().await.unwrap(), before);
}

#[tokio::test]
async fn what_serde_said_about_an_argument_is_told() {
    let (_engine, client) = engine().await;
    let run = client.start("OrderFlow", "order-17", order()).await.unwrap();
    let error = run.call("approve", json!(7)).await.unwrap_err();
    let text = "RPC `approve` was not called: the argument does not fit type `alloc::string::String`: \
                invalid type: integer `7`, expected a string at line 1 column 1";
    told(&error, ErrorKind::InvalidValue, text);
}

#[tokio::test]
async fn a_handler_that_refuses_is_no_invalid_value() {
    let (_engine, client) = engine().await;
    let run = client.start("OrderFlow", "order-17", order()).await.unwrap();
    let error = run.call("approve", json!("nobody")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RpcFailed);
    assert_eq!(error.failure().unwrap().message, "nobody may approve");
}

#[tokio::test]
async fn an_id_that_cannot_be_one_and_one_that_is_taken_are_refused() {
    let (_engine, client) = engine().await;
    let error = client.start("OrderFlow", "", order()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidId);
    client.start("OrderFlow", "order-17", order()).await.unwrap();
    assert!(client.start("OrderFlow", "order-17", order()).await.unwrap_err().is_already_started());
}

#[tokio::test]
async fn waits_have_a_budget() {
    let (engine, client) = engine().await;
    let run = client.start("OrderFlow", "order-17", order()).await.unwrap();
    let output = tokio::spawn(run.output().timeout(Duration::from_mins(1)));
    engine.advance(Duration::from_mins(1)).await;
    assert_eq!(output.await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);
}
