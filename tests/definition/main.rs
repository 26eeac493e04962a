//! What a flow says about itself: its description, its pictures, its fingerprint.
// The helpers are tests too, for the lints that spare tests.
#![cfg(test)]

mod defaults;
mod sub_flows;

use std::time::Duration;

use dex::prelude::*;
use expect_test::{Expect, expect};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: String,
}

#[derive(Clone, Debug, PartialEq, Keyword, Serialize, Deserialize)]
enum Status {
    Charged,
    Shipped,
}

type Answer = OneOf2<String, TimerFired>;

struct OrderFlow;

/// One order, from the charge to the parcel.
#[flow(output = String)]
impl OrderFlow {
    /// Where the order stands.
    #[attribute(index)]
    const STATUS: Attribute<Status>;

    #[channel]
    const APPROVAL: Channel<String>;

    /// Charges the card.
    #[step(start, timeout = "30s", retry(total = "1h"))]
    async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        ctx.set(Self::STATUS, Status::Charged)?;
        Ok(Next::to(Self::SHIP, order))
    }

    #[wait_for(ship)]
    fn seller_or_a_day(&self, _ctx: &WaitContext<Self>, _order: &Order) -> WaitResult<Self, Answer> {
        Ok(Wait::any((Self::APPROVAL.one(), Timer::after(Duration::from_hours(24)))))
    }

    #[step(retry(initial = "2s", factor = 1.5, max_interval = "1m", attempts = 4), on_failure = refund)]
    async fn ship(&self, ctx: &mut StepContext<Self>, order: Order, answer: Answer) -> StepResult<Self> {
        if let OneOf2::Second(TimerFired) = answer {
            return Ok(Next::to(Self::SHIP, order));
        }
        ctx.set(Self::STATUS, Status::Shipped)?;
        Ok(Next::complete(order.id))
    }

    #[step]
    async fn refund(&self, order: Order) -> StepResult<Self> {
        Ok(Next::complete(order.id))
    }

    #[rpc]
    async fn approve(&self, ctx: &mut RpcContext<Self>, by: String) -> RpcResult<()> {
        ctx.publish(Self::APPROVAL, by)
    }

    /// Sends it once more.
    #[rpc]
    fn again(&self, ctx: &mut RpcContext<Self>, order: Order) -> RpcResult<()> {
        ctx.start_step(Self::SHIP, order)
    }
}

/// Names that the languages of the pictures would take for their own.
struct Awkward;

#[flow(name = "a \"flow\"\\")]
impl Awkward {
    #[step(start, name = "end <b> & #1; `x`")]
    async fn first(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SECOND, ()))
    }

    #[step(name = "say \"hi\"\\n")]
    async fn second(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is written at the place of the call")]
fn check(actual: &str, expected: Expect) {
    expected.assert_eq(actual);
}

#[test]
fn the_order_flow_is_drawn_as_a_flowchart() {
    check(
        &OrderFlow::definition().to_mermaid(),
        expect![[r#"
            flowchart TD
                start(("start"))
                s1["charge"]
                s2["ship<br/>waits: seller_or_a_day gives Answer"]
                s3["refund"]
                r2(["again"])
                start --> s1
                s1 --> s2
                s2 --> s2
                s2 -.->|failure| s3
                r2 --> s2
        "#]],
    );
}

#[test]
fn the_order_flow_is_drawn_by_graphviz() {
    check(
        &OrderFlow::definition().to_dot(),
        expect![[r#"
            digraph "OrderFlow" {
                start [shape=circle, label="start"];
                s1 [shape=box, label="charge"];
                s2 [shape=box, label="ship\nwaits: seller_or_a_day gives Answer"];
                s3 [shape=box, label="refund"];
                r2 [shape=cds, label="again"];
                start -> s1;
                s1 -> s2;
                s2 -> s2;
                s2 -> s3 [style=dashed, label="failure"];
                r2 -> s2;
            }
        "#]],
    );
}

#[test]
fn names_stay_inside_their_labels() {
    check(
        &Awkward::definition().to_mermaid(),
        expect![[r#"
            flowchart TD
                start(("start"))
                s1["end #lt;b#gt; #amp; #35;1; #96;x#96;"]
                s2["say #quot;hi#quot;#92;n"]
                start --> s1
                s1 --> s2
        "#]],
    );
    check(
        &Awkward::definition().to_dot(),
        expect![[r#"
        digraph "a \"flow\"\\" {
            start [shape=circle, label="start"];
            s1 [shape=box, label="end <b> & #1; `x`"];
            s2 [shape=box, label="say \"hi\"\\n"];
            start -> s1;
            s1 -> s2;
        }
    "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "the JSON is long, and is to be read as a whole")]
fn a_definition_is_serialised_with_all_that_it_says() {
    let json = serde_json::to_string_pretty(OrderFlow::definition()).unwrap();
    check(
        &json,
        expect![[r#"
            {
              "name": "OrderFlow",
              "docs": "One order, from the charge to the parcel.",
              "output": "String",
              "timeout_ms": null,
              "on_timeout": null,
              "on_cancel": null,
              "endless": false,
              "steps": [
                {
                  "name": "charge",
                  "aliases": [],
                  "docs": "Charges the card.",
                  "input": "Order",
                  "start": true,
                  "entry": false,
                  "blocking": false,
                  "wait": null,
                  "retry": {
                    "initial_ms": 1000,
                    "factor": 2.0,
                    "max_interval_ms": 100000,
                    "attempts": null,
                    "total_ms": 3600000
                  },
                  "timeout_ms": 30000,
                  "heartbeat_ms": null,
                  "on_failure": null,
                  "on_exhausted": "fail",
                  "locks": [],
                  "durability": "sync",
                  "edges": [
                    {
                      "to": "ship",
                      "kind": "next"
                    }
                  ]
                },
                {
                  "name": "ship",
                  "aliases": [],
                  "docs": "",
                  "input": "Order",
                  "start": false,
                  "entry": false,
                  "blocking": false,
                  "wait": {
                    "method": "seller_or_a_day",
                    "docs": "",
                    "outcome": "Answer",
                    "sub_flows": []
                  },
                  "retry": {
                    "initial_ms": 2000,
                    "factor": 1.5,
                    "max_interval_ms": 60000,
                    "attempts": 4,
                    "total_ms": 14400000
                  },
                  "timeout_ms": null,
                  "heartbeat_ms": null,
                  "on_failure": "refund",
                  "on_exhausted": "fail",
                  "locks": [],
                  "durability": "sync",
                  "edges": [
                    {
                      "to": "ship",
                      "kind": "next"
                    },
                    {
                      "to": "refund",
                      "kind": "failure"
                    }
                  ]
                },
                {
                  "name": "refund",
                  "aliases": [],
                  "docs": "",
                  "input": "Order",
                  "start": false,
                  "entry": false,
                  "blocking": false,
                  "wait": null,
                  "retry": {
                    "initial_ms": 1000,
                    "factor": 2.0,
                    "max_interval_ms": 100000,
                    "attempts": null,
                    "total_ms": 14400000
                  },
                  "timeout_ms": null,
                  "heartbeat_ms": null,
                  "on_failure": null,
                  "on_exhausted": "fail",
                  "locks": [],
                  "durability": "sync",
                  "edges": []
                }
              ],
              "attributes": [
                {
                  "name": "STATUS",
                  "aliases": [],
                  "docs": "Where the order stands.",
                  "key": null,
                  "value": "Status",
                  "indexed": true
                }
              ],
              "channels": [
                {
                  "name": "APPROVAL",
                  "aliases": [],
                  "docs": "",
                  "key": null,
                  "value": "String"
                }
              ],
              "streams": [],
              "rpcs": [
                {
                  "name": "approve",
                  "aliases": [],
                  "docs": "",
                  "input": "String",
                  "output": "()",
                  "writes": true,
                  "blocking": false,
                  "timeout_ms": null,
                  "locks": [],
                  "edges": []
                },
                {
                  "name": "again",
                  "aliases": [],
                  "docs": "Sends it once more.",
                  "input": "Order",
                  "output": "()",
                  "writes": true,
                  "blocking": true,
                  "timeout_ms": null,
                  "locks": [],
                  "edges": [
                    {
                      "to": "ship",
                      "kind": "next"
                    }
                  ]
                }
              ]
            }"#]],
    );
}

#[test]
fn a_definition_is_told_in_the_same_words_each_time() {
    let all = || {
        let flow = OrderFlow::definition();
        (flow.to_mermaid(), flow.to_dot(), serde_json::to_string(flow).unwrap(), flow.fingerprint())
    };
    assert_eq!(all(), all());
}

#[test]
fn the_fingerprint_stays_over_builds_and_machines() {
    check(&format!("{:016x}", OrderFlow::definition().fingerprint()), expect!["d8ad64c18b8638e2"]);
    check(&format!("{:016x}", Awkward::definition().fingerprint()), expect!["ef31841df7e04d72"]);
}

/// `Awkward` once more: with docs, in another order.
mod moved {
    use dex::prelude::*;

    pub(crate) struct Awkward;

    /// The same flow.
    #[flow(name = "a \"flow\"\\")]
    impl Awkward {
        /// Comes second.
        #[step(name = "say \"hi\"\\n")]
        async fn second(&self) -> StepResult<Self> {
            Ok(Next::complete(()))
        }

        #[step(start, name = "end <b> & #1; `x`")]
        async fn first(&self) -> StepResult<Self> {
            Ok(Next::to(Self::SECOND, ()))
        }
    }
}

/// `Awkward` once more: a step may take as long as it likes no more.
mod changed {
    use dex::prelude::*;

    pub(crate) struct Awkward;

    #[flow(name = "a \"flow\"\\")]
    impl Awkward {
        #[step(start, name = "end <b> & #1; `x`", timeout = "1m")]
        async fn first(&self) -> StepResult<Self> {
            Ok(Next::to(Self::SECOND, ()))
        }

        #[step(name = "say \"hi\"\\n")]
        async fn second(&self) -> StepResult<Self> {
            Ok(Next::complete(()))
        }
    }
}

#[test]
fn the_fingerprint_tells_a_changed_flow_from_a_moved_one() {
    let fingerprint = Awkward::definition().fingerprint();
    assert_eq!(moved::Awkward::definition().fingerprint(), fingerprint);
    assert_ne!(changed::Awkward::definition().fingerprint(), fingerprint);
}
