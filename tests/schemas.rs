//! JSON schemas of a flow's values: what tools make forms of.
// The helpers are tests too, for the lints that spare tests.
#![cfg(test)]

use std::time::Duration;

use dex::ErrorKind;
use dex::definition::FlowSchemas;
use dex::prelude::*;
use expect_test::expect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// What is bought.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Order {
    id: String,
    /// In whole cents.
    cents: u32,
    #[serde(default)]
    gift: bool,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Line {
    article: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
enum Status {
    Charged,
    Shipped,
}

type Answer = OneOf2<String, TimerFired>;

type AnswerOf<F> = WaitResult<F, (Answer, u8)>;

struct Shop;

#[flow(output = Order, schemas)]
impl Shop {
    #[attribute]
    const STATUS: Attribute<Status>;

    /// By the number of the line.
    #[attribute(name = "gifts")]
    const GIFTS: AttributeMap<u32, Vec<Line>>;

    #[channel(name = "approval")]
    const APPROVAL: Channel<String>;

    #[channel]
    const RETURNS: ChannelMap<String, Line>;

    #[stream]
    const NEWS: Stream<Line>;

    #[cfg(any())]
    #[channel]
    const NEVER: Channel<NoSuchType>;

    #[step(start)]
    async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        ctx.set(Self::STATUS, Status::Charged)?;
        Ok(Next::to(Self::SHIP, order))
    }

    #[wait_for(ship)]
    fn seller_or_a_day(&self) -> WaitResult<Self, Answer> {
        Ok(Wait::any((Self::APPROVAL.one(), Timer::after(Duration::from_hours(24)))))
    }

    #[step]
    async fn ship(&self, ctx: &mut StepContext<Self>, order: Order, _answer: Answer) -> StepResult<Self> {
        ctx.set(Self::STATUS, Status::Shipped)?;
        Ok(Next::to(Self::THANK, order))
    }

    #[wait_for(thank)]
    fn a_word(&self) -> AnswerOf<Self> {
        Ok(Wait::any((Self::APPROVAL.one(), Timer::after(Duration::from_hours(24)))).with(1))
    }

    /// Takes no outcome, and its wait does not say which.
    #[step]
    async fn thank(&self, order: Order) -> StepResult<Self> {
        Ok(Next::complete(order))
    }

    #[rpc]
    async fn count(&self) -> RpcResult<Option<u64>> {
        Ok(Some(1))
    }

    #[rpc(name = "change")]
    async fn replace(&self, _ctx: &mut RpcContext<Self>, order: Order) -> RpcResult<Line> {
        Ok(Line { article: order.id })
    }
}

struct Plain;

#[flow]
impl Plain {
    #[step(start)]
    async fn only(&self, _order: Unseen) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// Without a schema, in a build that has the feature.
#[derive(Serialize, Deserialize)]
struct Unseen;

/// A flow whose runs start without a step.
struct Idle;

#[flow(endless, schemas)]
impl Idle {
    #[rpc]
    async fn ping(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn shop() -> FlowSchemas {
    Shop::schemas().unwrap()
}

#[test]
fn an_input_has_a_schema_of_its_own_with_all_that_it_refers_to() {
    expect![[r##"
        {
          "$defs": {
            "Line": {
              "properties": {
                "article": {
                  "type": "string"
                }
              },
              "required": [
                "article"
              ],
              "type": "object"
            }
          },
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "description": "What is bought.",
          "properties": {
            "cents": {
              "description": "In whole cents.",
              "format": "uint32",
              "minimum": 0,
              "type": "integer"
            },
            "gift": {
              "default": false,
              "type": "boolean"
            },
            "id": {
              "type": "string"
            },
            "lines": {
              "items": {
                "$ref": "#/$defs/Line"
              },
              "type": "array"
            }
          },
          "required": [
            "id",
            "cents",
            "lines"
          ],
          "title": "Order",
          "type": "object"
        }"##]]
    .assert_eq(&serde_json::to_string_pretty(&shop().input).unwrap());
}

#[test]
fn what_is_given_may_leave_out_a_default_and_what_is_told_has_it() {
    let required = |schema: &Json| schema["required"].as_array().unwrap().len();
    assert_eq!(required(&shop().input), 3);
    assert_eq!(required(&shop().output), 4);
}

#[test]
fn every_member_has_its_schema_under_its_stored_name() {
    let all = shop();
    assert_eq!(all.streams[0].name, Shop::NEWS.name());
    let mut lines = vec![format!("flow {}: {} -> {}", all.name, title(&all.input), title(&all.output))];
    lines.extend(all.steps.iter().map(|step| {
        let outcome = step.outcome.as_ref().map(title);
        format!("step {}: {}, {outcome:?}", step.name, title(&step.input))
    }));
    lines
        .extend(all.attributes.iter().map(|each| format!("attribute {}: {}", each.name, title(&each.value))));
    lines.extend(all.channels.iter().map(|each| format!("channel {}: {}", each.name, title(&each.value))));
    lines.extend(all.streams.iter().map(|each| format!("stream {}: {}", each.name, title(&each.value))));
    let rpcs = all.rpcs.iter();
    lines
        .extend(rpcs.map(|rpc| format!("rpc {}: {} -> {}", rpc.name, title(&rpc.input), title(&rpc.output))));
    expect![[r#"
        flow Shop: Order -> Order
        step charge: Order, None
        step ship: Order, Some("OneOf2")
        step thank: Order, Some("Tuple_of_OneOf2_and_uint8")
        attribute STATUS: Status
        attribute gifts: Array_of_Line
        channel approval: string
        channel RETURNS: Line
        stream NEWS: Line
        rpc count: null -> Nullable_uint64
        rpc change: Order -> Line"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn a_map_has_the_schema_of_its_values_and_its_definition_says_what_its_keys_are() {
    let gifts = &shop().attributes[1];
    assert_eq!((gifts.name, &gifts.value["type"]), (Shop::GIFTS.name(), &json!("array")));
    assert_eq!(shop().channels[1].name, Shop::RETURNS.name());
    assert_eq!(gifts.value["items"]["$ref"], json!("#/$defs/Line"));
    assert_eq!(gifts.value["$defs"]["Line"]["required"], json!(["article"]));
    let definition = serde_json::to_value(Shop::definition()).unwrap();
    assert_eq!(definition["attributes"][1]["key"], json!("u32"));
    assert_eq!(definition["channels"][1]["key"], json!("String"));
}

fn title(schema: &Json) -> &str {
    schema["title"].as_str().unwrap()
}

#[test]
fn the_outcome_of_any_is_described_as_it_is_stored() {
    let outcome = shop().steps[1].outcome.clone().unwrap();
    assert_eq!(outcome["oneOf"].as_array().unwrap().len(), 2);
    assert_eq!(outcome["oneOf"][0]["required"], json!(["0"]));
    assert_eq!(outcome["oneOf"][0]["properties"]["0"]["type"], json!("string"));
    assert_eq!(serde_json::to_value(Answer::First("ada".into())).unwrap(), json!({ "0": "ada" }));
    assert_eq!(outcome["$defs"]["TimerFired"]["type"], json!("null"));
    assert_eq!(serde_json::to_value(TimerFired).unwrap(), Json::Null);
}

#[test]
fn a_schema_is_the_same_text_each_time() {
    let text = || serde_json::to_string(&shop()).unwrap();
    assert_eq!(text(), text());
    assert!(text().starts_with(r#"{"name":"Shop","input":{"#), "{}", text());
}

#[test]
fn a_flow_that_does_not_ask_for_schemas_needs_none() {
    assert_eq!(Plain::schemas(), None);
}

#[test]
fn a_flow_without_a_start_step_is_started_with_null() {
    assert_eq!(Idle::schemas().unwrap().input["type"], json!("null"));
}

#[tokio::test]
async fn tools_find_schemas_by_the_flows_name() {
    let folder = tempfile::tempdir().unwrap();
    let dex = Dex::open(folder.path()).flow(Shop).flow(Plain).start().await.unwrap();
    let client = dex.dynamic();
    assert_eq!(client.schemas("Shop").unwrap(), Some(shop()));
    assert_eq!(client.schemas("Plain").unwrap(), None);
    assert_eq!(client.schemas("Shp").unwrap_err().kind(), ErrorKind::UnknownFlow);
    dex.shutdown(Duration::from_secs(10)).await.unwrap();
}

/// Waits for a shop.
struct Mall;

#[flow(schemas)]
impl Mall {
    #[wait_for(visit)]
    fn a_shop(&self, order: &Order) -> WaitResult<Self, ChildResult<Shop>> {
        Ok(Wait::one(SubFlow::<Shop>::run(order.clone())))
    }

    #[step(start)]
    async fn visit(&self, _order: Order, _shop: ChildResult<Shop>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[test]
fn how_a_sub_flow_ended_is_described_with_its_output() {
    let outcome = Mall::schemas().unwrap().steps[0].outcome.clone().unwrap();
    assert_eq!(outcome["title"], json!("ChildResult_of_Order"));
    assert_eq!(outcome["properties"]["end"]["$ref"], json!("#/$defs/ChildEnd"));
    assert_eq!(outcome["$defs"]["Order"]["title"], json!(null), "{outcome:#}");
}
