//! Signs of life of long steps, and how far they have come.
#![cfg(test)]

mod support;

use dex::definition::{FlowDefinition, OnExhausted, StepDefinition};
use dex::prelude::*;
use dex::{FailureKind, RetryPolicy, Status};
use support::hand::{Hand, Script, first, step};
use support::{Counter, IN_MEMORY, Way, each_way, engine, seconds};
use tokio::sync::Notify;

/// By its input a run is silent, beats now and then, or copies rows.
#[derive(Default)]
struct Copy {
    beat: Notify,
    copied: Counter,
}

const ONCE: RetryPolicy = RetryPolicy { attempts: Some(1), ..RetryPolicy::DEFAULT };

impl Script for Copy {
    const DEFINITION: &'static FlowDefinition = &FlowDefinition {
        name: "Copy",
        steps: &[
            first("begin"),
            StepDefinition { heartbeat: Some(seconds(10)), retry: ONCE, ..step("silent") },
            StepDefinition { heartbeat: Some(seconds(10)), retry: ONCE, ..step("beat") },
            StepDefinition {
                retry: RetryPolicy { attempts: Some(3), ..RetryPolicy::DEFAULT },
                on_exhausted: OnExhausted::Park,
                ..step("copy")
            },
            StepDefinition { retry: ONCE, on_exhausted: OnExhausted::Proceed, ..step("proceed") },
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
                Ok(Next::to(Hand::to(["silent", "beat", "copy", "proceed"][input.unwrap() as usize]), None))
            }
            "silent" => std::future::pending().await,
            "beat" => {
                for _ in 0..3 {
                    self.beat.notified().await;
                    ctx.heartbeat();
                }
                Ok(Next::complete(1))
            }
            "proceed" => Err(StepError::new("no use")),
            _ => {
                // Each attempt copies two rows from where the last one was, and fails before the fifth.
                let from = ctx.last_checkpoint::<u32>()?.unwrap_or_default();
                for row in from..from + 2 {
                    if row == 5 {
                        return Ok(Next::complete(row));
                    }
                    self.copied.add();
                    ctx.checkpoint(&(row + 1))?;
                }
                Err(StepError::new("the line went dead"))
            }
        }
    }
}

const SILENT: Option<u32> = Some(0);
const BEAT: Option<u32> = Some(1);
const COPY: Option<u32> = Some(2);
const PROCEED: Option<u32> = Some(3);

#[tokio::test]
async fn an_attempt_without_a_sign_of_life_fails_in_time() {
    each_way(
        IN_MEMORY,
        || Hand(Copy::default()),
        async |t| {
            t.client().start("r", SILENT).await.unwrap();
            t.phase().await;
            t.advance(seconds(9)).await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running, "{:?}", t.way);
            t.advance(seconds(1)).await;
            let result = t.run().await.result().await.unwrap();
            let dex::Closing::StepFailed { failure, .. } = result.closing() else { panic!("{result:?}") };
            assert_eq!(failure.kind, FailureKind::HeartbeatTimeout);
        },
    )
    .await;
}

#[tokio::test]
async fn an_attempt_that_gives_signs_of_life_may_take_longer_than_its_heartbeat() {
    let t = engine(Hand(Copy::default())).await;
    let run = t.client::<Hand<Copy>>().start("r", BEAT).await.unwrap();
    for _ in 0..3 {
        t.advance(seconds(9)).await;
        t.flow::<Hand<Copy>>().0.beat.notify_one();
        t.settle().await;
    }
    assert_eq!(run.output().await.unwrap(), 1);
}

#[tokio::test]
async fn the_next_attempt_goes_on_from_the_checkpoint_also_after_a_restart() {
    let ways = &[Way::Straight, Way::Restarted, Way::OnDisk, Way::Closed];
    each_way(
        ways,
        || Hand(Copy::default()),
        async |t| {
            t.client().start("r", COPY).await.unwrap();
            for _ in 0..3 {
                t.phase().await;
                t.advance(seconds(60)).await;
            }
            assert_eq!(t.run().await.output().await.unwrap(), 5, "{:?}", t.way);
        },
    )
    .await;
    let t = engine(Hand(Copy::default())).await;
    let run = t.client::<Hand<Copy>>().start("r", COPY).await.unwrap();
    t.advance(seconds(60)).await;
    run.output().await.unwrap();
    assert_eq!(t.flow::<Hand<Copy>>().0.copied.get(), 5, "no row was copied twice");
}

#[tokio::test]
async fn a_step_whose_failure_does_not_matter_ends_its_branch_only() {
    each_way(
        IN_MEMORY,
        || Hand(Copy::default()),
        async |t| {
            t.client().start("r", PROCEED).await.unwrap();
            t.phase().await;
            let info = t.run().await.describe().await.unwrap();
            assert_eq!((info.status, info.steps.len()), (Status::Running, 0), "{:?}", t.way);
        },
    )
    .await;
}
