//! Steps whose outcome need not be on disk before the run goes on.
#![cfg(test)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dex::definition::{Durability, FlowDefinition, StepDefinition};
use dex::prelude::*;
use dex::testing;
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

/// Gives another output each time it runs, which nobody has to wait for.
#[derive(Clone, Default)]
struct Draw(Arc<AtomicU32>);

#[flow(output = u32)]
impl Draw {
    #[step(start, durability = async)]
    async fn draw(&self) -> StepResult<Self> {
        Ok(Next::complete(self.0.fetch_add(1, Ordering::Relaxed)))
    }
}

#[tokio::test]
async fn who_was_told_how_a_run_has_ended_is_told_the_same_after_a_loss_of_power() {
    let draw = Draw::default();
    let t = testing::engine().flow(draw.clone()).start().await.unwrap();
    assert_eq!(t.client::<Draw>().start("r", ()).await.unwrap().output().await.unwrap(), 0);
    let left = t.store().reopen_after_power_loss();
    let t = testing::engine_on(left).flow(draw).start().await.unwrap();
    assert_eq!(t.client::<Draw>().run("r").await.unwrap().output().await.unwrap(), 0);
}
