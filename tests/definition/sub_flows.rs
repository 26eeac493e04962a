//! The flows whose runs a flow's steps wait for.

use dex::prelude::*;
use expect_test::expect;

use crate::check;

struct Price;

#[flow(output = u64)]
impl Price {
    #[step(start)]
    async fn look_up(&self) -> StepResult<Self> {
        Ok(Next::complete(1_u64))
    }
}

type Prices = Vec<ChildResult<Price>>;

struct Basket;

#[flow]
impl Basket {
    /// What a basket in the basket costs, and what each article does.
    #[wait_for(add_up)]
    fn baskets_and_prices(&self) -> WaitResult<Self, (ChildResult<Basket>, Prices)> {
        let article = |()| SubFlow::<crate::sub_flows::Price>::run(());
        Ok(Wait::all((
            SubFlow::<Self>::run(()),
            All(vec![(), ()].into_iter().map(article).collect::<Vec<_>>()),
        )))
    }

    #[step(start)]
    async fn add_up(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SEND, ()))
    }

    #[wait_for(send)]
    fn last_price(&self) -> WaitResult<Self, OneOf2<ChildResult<Basket>, TimerFired>> {
        Ok(helper())
    }

    #[step]
    async fn send(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn helper() -> Wait<Basket, OneOf2<ChildResult<Basket>, TimerFired>> {
    Wait::any((SubFlow::run(()), Timer::after(std::time::Duration::from_secs(1))))
}

#[test]
fn a_wait_names_the_flows_whose_runs_it_waits_for() {
    let named = |step| {
        let (_, step) = Basket::definition().step(step).unwrap();
        step.wait.as_ref().unwrap().sub_flows
    };
    assert_eq!(named("add_up"), ["crate::sub_flows::Price", "Basket"]);
    assert_eq!(named("send"), ["Basket"]);
}

#[test]
fn sub_flows_are_drawn_once_each() {
    check(
        &Basket::definition().to_mermaid(),
        expect![[r#"
        flowchart TD
            start(("start"))
            s1["add_up<br/>waits: baskets_and_prices gives (ChildResult#lt;Basket#gt;, Prices)"]
            s2["send<br/>waits: last_price gives OneOf2#lt;ChildResult#lt;Basket#gt;, TimerFired#gt;"]
            f1[["crate::sub_flows::Price"]]
            f2[["Basket"]]
            start --> s1
            s1 --> s2
            s1 -->|runs| f1
            s1 -->|runs| f2
            s2 -->|runs| f2
    "#]],
    );
    check(
        &Basket::definition().to_dot(),
        expect![[r#"
        digraph "Basket" {
            start [shape=circle, label="start"];
            s1 [shape=box, label="add_up\nwaits: baskets_and_prices gives (ChildResult<Basket>, Prices)"];
            s2 [shape=box, label="send\nwaits: last_price gives OneOf2<ChildResult<Basket>, TimerFired>"];
            f1 [shape=component, label="crate::sub_flows::Price"];
            f2 [shape=component, label="Basket"];
            start -> s1;
            s1 -> s2;
            s1 -> f1 [label="runs"];
            s1 -> f2 [label="runs"];
            s2 -> f2 [label="runs"];
        }
    "#]],
    );
}
