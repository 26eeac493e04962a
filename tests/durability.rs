//! Steps whose outcome need not be on disk before the run goes on.
#![cfg(test)]

mod support;

use dex::definition::{Durability, FlowDefinition, StepDefinition};
use dex::prelude::*;
use support::hand::{Hand, Script, first, step};
use support::{ALL, each_way};

/// Counts to its input in steps that are not waited for.
struct Count;

impl Script for Count {
    const DEFINITION: &'static FlowDefinition = &FlowDefinition {
        name: "Count",
        steps: &[
            first("begin"),
            StepDefinition { durability: Durability::Async, ..step("count") },
            step("end"),
        ],
        ..FlowDefinition::DEFAULT
    };

    async fn step(
        &self,
        step: &'static str,
        ctx: &mut StepContext<Hand<Self>>,
        input: Option<u32>,
    ) -> StepResult<Hand<Self>> {
        let counted = ctx.get(Hand::number("counted"))?.unwrap_or_default();
        Ok(match (step, input) {
            ("begin", input) => Next::to(Hand::to("count"), input),
            ("count", Some(left)) if left > 0 => {
                ctx.set(Hand::number("counted"), counted + 1)?;
                Next::to(Hand::to("count"), Some(left - 1))
            }
            ("count", _) => Next::to(Hand::to("end"), None),
            _ => Next::complete(counted),
        })
    }
}

#[tokio::test]
async fn each_step_counts_once_whatever_becomes_of_the_process() {
    each_way(
        ALL,
        || Hand(Count),
        async |t| {
            t.client().start("r", Some(20)).await.unwrap();
            t.reopen().await;
            t.reopen().await;
            assert_eq!(t.run().await.output().await.unwrap(), 20, "{:?}", t.way);
        },
    )
    .await;
}
