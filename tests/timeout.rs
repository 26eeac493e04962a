//! The time of a run as a whole.
#![cfg(test)]

mod support;

use dex::definition::FlowDefinition;
use dex::prelude::*;
use dex::{Closing, ErrorKind, Status, TimeoutPolicy};
use support::hand::{Hand, Script, first, step};
use support::{IN_MEMORY, each_way, engine, hours, seconds};

/// Never ends by itself; its `late` step completes it.
struct Endless;

impl Script for Endless {
    const DEFINITION: &'static FlowDefinition = &FlowDefinition {
        name: "Endless",
        on_timeout: Some("late"),
        steps: &[first("begin"), step("late")],
        ..FlowDefinition::DEFAULT
    };

    async fn step(
        &self,
        step: &'static str,
        _ctx: &mut StepContext<Hand<Self>>,
        _input: Option<u32>,
    ) -> StepResult<Hand<Self>> {
        Ok(if step == "late" { Next::complete(9) } else { Next::dead_end() })
    }
}

#[tokio::test]
async fn a_run_whose_time_is_up_does_what_its_policy_says() {
    let ends = [
        (None, Status::Completed),
        (Some(TimeoutPolicy::Step), Status::Completed),
        (Some(TimeoutPolicy::Fail), Status::Failed),
        (Some(TimeoutPolicy::Cancel), Status::Canceled),
    ];
    for (policy, status) in ends {
        each_way(
            IN_MEMORY,
            || Hand(Endless),
            async |t| {
                let start = t.client().start("r", None).timeout(hours(1));
                let start = if let Some(policy) = policy { start.on_timeout(policy) } else { start };
                start.await.unwrap();
                t.phase().await;
                t.advance(seconds(3_599)).await;
                assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);
                t.advance(seconds(1)).await;
                assert_eq!(t.run().await.result().await.unwrap().status(), status, "{:?}", t.way);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn a_run_that_fails_for_its_time_says_so() {
    let t = engine(Hand(Endless)).await;
    let start =
        t.client::<Hand<Endless>>().start("r", None).timeout(seconds(5)).on_timeout(TimeoutPolicy::Fail);
    let run = start.await.unwrap();
    t.advance(seconds(5)).await;
    assert_eq!(run.result().await.unwrap().closing(), &Closing::TimedOut);
    let error = run.output().await.err().unwrap();
    assert!(error.to_string().contains("its time was up"), "{error}");
}

#[tokio::test]
async fn a_run_that_ends_in_time_is_left_alone_and_no_time_is_refused() {
    let t = engine(Hand(Endless)).await;
    let client = t.client::<Hand<Endless>>();
    let run = client.start("r", None).timeout(hours(1)).await.unwrap();
    run.terminate().await.unwrap();
    t.advance(hours(2)).await;
    assert_eq!(run.result().await.unwrap().status(), Status::Terminated);
    let error = client.start("s", None).timeout(seconds(0)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
}
