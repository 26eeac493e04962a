//! Cancelling: handlers get a grace period, a step cleans up, decisions end other steps.
#![cfg(test)]

mod support;

use std::time::Duration;

use dex::definition::{FlowDefinition, StepDefinition};
use dex::prelude::*;
use dex::{ErrorKind, Status, Stop};
use support::hand::{Hand, Script, first, step};
use support::{Counter, IN_MEMORY, Way, each_way, engine, seconds};

/// What a run does: by its input, listens, is deaf, waits, or blocks a thread. Then it cleans up.
#[derive(Default)]
struct Work {
    told: Counter,
    cleaned: Counter,
    late: Counter,
}

impl Script for Work {
    const DEFINITION: &'static FlowDefinition = &FlowDefinition {
        name: "Work",
        on_cancel: Some("clean"),
        steps: &[
            first("begin"),
            step("listen"),
            step("deaf"),
            StepDefinition {
                wait: Some(dex::definition::WaitDefinition {
                    method: "wait",
                    docs: "",
                    outcome: "u32",
                    sub_flows: &[],
                }),
                ..step("wait")
            },
            StepDefinition { blocking: true, ..step("block") },
            step("clean"),
            step("late"),
        ],
        ..FlowDefinition::DEFAULT
    };

    async fn step(
        &self,
        step: &'static str,
        ctx: &mut StepContext<Hand<Self>>,
        input: Option<u32>,
    ) -> StepResult<Hand<Self>> {
        match step {
            "begin" => {
                Ok(Next::to(Hand::to(["listen", "deaf", "wait", "block"][input.unwrap() as usize]), None))
            }
            "listen" => {
                assert!(!ctx.is_cancelled());
                ctx.cancelled().await;
                assert!(ctx.is_cancelled());
                self.told.add();
                // What it decides starts nothing.
                Ok(Next::to(Hand::to("late"), None))
            }
            "block" => {
                while !ctx.is_cancelled() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                self.told.add();
                Ok(Next::dead_end())
            }
            "clean" => {
                assert!(!ctx.is_cancelled());
                self.cleaned.add();
                Ok(Next::dead_end())
            }
            "late" => {
                self.late.add();
                Ok(Next::complete(0))
            }
            _ => std::future::pending().await,
        }
    }
}

const LISTEN: Option<u32> = Some(0);
const DEAF: Option<u32> = Some(1);
const WAIT: Option<u32> = Some(2);
const BLOCK: Option<u32> = Some(3);

#[tokio::test]
async fn a_handler_that_listens_ends_its_work_and_nothing_follows_but_the_clean_up() {
    let t = engine(Hand(Work::default())).await;
    let run = t.client::<Hand<Work>>().start("r", LISTEN).await.unwrap();
    t.settle().await;
    run.cancel().await.unwrap();
    assert_eq!(run.result().await.unwrap().status(), Status::Canceled);
    let Hand(work) = &*t.flow::<Hand<Work>>();
    assert_eq!((work.told.get(), work.cleaned.get(), work.late.get()), (1, 1, 0));
}

#[tokio::test]
async fn a_plain_handler_is_told_where_it_asks() {
    let t = engine(Hand(Work::default())).await;
    let run = t.client::<Hand<Work>>().start("r", BLOCK).await.unwrap();
    while run.describe().await.unwrap().steps[0].id != "block-1" {
        tokio::task::yield_now().await;
    }
    run.cancel().await.unwrap();
    assert_eq!(run.result().await.unwrap().status(), Status::Canceled);
    assert_eq!(t.flow::<Hand<Work>>().0.told.get(), 1);
}

#[tokio::test]
async fn a_handler_that_does_not_listen_is_dropped_after_the_grace_period() {
    each_way(
        &[Way::Straight, Way::Restarted, Way::OnDisk],
        || Hand(Work::default()),
        async |t| {
            t.client().start("r", DEAF).await.unwrap();
            t.phase().await;
            t.run().await.cancel().await.unwrap();
            t.phase().await;
            let explained = t.run().await.describe().await.unwrap().explain();
            assert!(explained.contains("being cancelled until"), "{explained}");
            assert_eq!(t.run().await.cancel().await.err().unwrap().kind(), ErrorKind::Canceling);
            t.advance(seconds(9)).await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);
            t.advance(seconds(1)).await;
            assert_eq!(t.run().await.result().await.unwrap().status(), Status::Canceled);
            assert!(t.flow::<Hand<Work>>().0.cleaned.get() > 0, "{:?}", t.way);
        },
    )
    .await;
}

#[tokio::test]
async fn what_waits_is_ended_at_once_and_cleaned_up() {
    each_way(
        IN_MEMORY,
        || Hand(Work::default()),
        async |t| {
            t.client().start("r", WAIT).await.unwrap();
            t.phase().await;
            t.run().await.cancel().await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.result().await.unwrap().status(), Status::Canceled);
            assert!(t.flow::<Hand<Work>>().0.cleaned.get() > 0, "{:?}", t.way);
        },
    )
    .await;
}

#[tokio::test]
async fn a_terminate_overtakes_a_cancel_and_cleans_nothing_up() {
    let t = engine(Hand(Work::default())).await;
    let run = t.client::<Hand<Work>>().start("r", DEAF).await.unwrap();
    t.settle().await;
    run.cancel().await.unwrap();
    run.stop(Stop::Terminate, "at once").await.unwrap();
    assert_eq!(run.result().await.unwrap().status(), Status::Terminated);
    t.settle().await;
    assert_eq!(t.flow::<Hand<Work>>().0.cleaned.get(), 0);
}

/// A race: of two branches the first ends the other.
struct Race;

impl Script for Race {
    const DEFINITION: &'static FlowDefinition = &FlowDefinition {
        name: "Race",
        steps: &[first("fork"), step("slow"), step("quick")],
        ..FlowDefinition::DEFAULT
    };

    async fn step(
        &self,
        step: &'static str,
        _ctx: &mut StepContext<Hand<Self>>,
        input: Option<u32>,
    ) -> StepResult<Hand<Self>> {
        match (step, input) {
            ("fork", None) => Ok(Next::to(Hand::to("fork"), Some(1)).and(Hand::to("slow"), None)),
            ("fork", _) => Ok(Next::to(Hand::to("slow"), None).and(Hand::to("quick"), None)),
            ("quick", None) => Ok(Next::to(Hand::to("quick"), Some(1)).cancel_siblings(Hand::to("slow"))),
            ("quick", _) => Ok(Next::complete(7).cancel(Hand::to("slow"))),
            _ => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn a_decision_ends_siblings_only_or_all_executions_of_a_step() {
    each_way(
        IN_MEMORY,
        || Hand(Race),
        async |t| {
            let run = t.client().start("r", None).await.unwrap();
            // Both slow ones are gone, or the run would not complete.
            assert_eq!(run.output().await.unwrap(), 7, "{:?}", t.way);
        },
    )
    .await;
}
