//! What a flow says for all its steps, and where it ends.

use std::time::Duration;

use dex::prelude::*;
use expect_test::expect;

use crate::{OrderFlow, check};

/// What its block says for all steps, and what they say otherwise.
struct Defaults;

#[flow(
    endless,
    steps(timeout = "30s", heartbeat = "10s", retry(attempts = 5, initial = "2s"), on_exhausted = park, durability = async)
)]
impl Defaults {
    #[step(start)]
    async fn plain(&self) -> StepResult<Self> {
        Ok(Next::to(Self::MENDED, ()))
    }

    #[step(timeout = "1m", retry(total = "1h", initial = "3s"), on_exhausted = fail, durability = sync)]
    async fn own(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step(on_failure = own)]
    async fn mended(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step(entry)]
    async fn audit(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step(entry, timeout = none, heartbeat = none)]
    async fn unlimited(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[on_timeout(heartbeat = "29s")]
    async fn late(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.heartbeat();
        Ok(Next::dead_end())
    }
}

#[test]
fn a_step_says_what_holds_for_it_whoever_said_so() {
    let flow = Defaults::definition();
    let told = |name| {
        let (_, step) = flow.step(name).unwrap();
        let retry = step.retry;
        assert_eq!((retry.factor, retry.max_interval), (2.0, Duration::from_secs(100)), "{name}");
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            step.timeout.unwrap(),
            step.heartbeat.unwrap(),
            retry.attempts.unwrap(),
            retry.initial,
            retry.total.unwrap(),
            step.on_exhausted,
            step.durability
        )
    };
    assert_eq!(told("plain"), "30s 10s 5 2s 14400s Park Async");
    assert_eq!(told("own"), "60s 10s 5 3s 3600s Fail Sync");
    // A step that takes over settles the end of the retries, and what has to be certain before.
    assert_eq!(told("mended"), "30s 10s 5 2s 14400s Fail Sync");
    assert_eq!(told("late"), "30s 29s 5 2s 14400s Park Async");
    let (_, unlimited) = flow.step("unlimited").unwrap();
    assert_eq!((unlimited.timeout, unlimited.heartbeat, unlimited.retry.attempts), (None, None, Some(5)));
}

#[test]
fn an_entry_and_a_flow_without_end_say_that_they_are() {
    let flow = Defaults::definition();
    assert!(flow.endless && !OrderFlow::definition().endless);
    let entries: Vec<_> = flow.steps.iter().filter(|step| step.entry).map(|step| step.name).collect();
    assert_eq!(entries, ["audit", "unlimited"]);
    let json = serde_json::to_value(flow).unwrap();
    assert_eq!((&json["endless"], &json["steps"][3]["entry"]), (&true.into(), &true.into()));
    assert_eq!((&json["steps"][0]["entry"], &json["steps"][5]["entry"]), (&false.into(), &false.into()));
    check(
        &flow.to_mermaid(),
        expect![[r#"
            flowchart TD
                start(("start"))
                s1["plain"]
                s2["own"]
                s3["mended"]
                e4>"entry"]
                s4["audit"]
                e5>"entry"]
                s5["unlimited"]
                s6["late"]
                start --> s1
                s1 --> s3
                s3 -.->|failure| s2
                e4 --> s4
                e5 --> s5
        "#]],
    );
    check(
        &flow.to_dot(),
        expect![[r#"
            digraph "Defaults" {
                start [shape=circle, label="start"];
                s1 [shape=box, label="plain"];
                s2 [shape=box, label="own"];
                s3 [shape=box, label="mended"];
                e4 [shape=plaintext, label="entry"];
                s4 [shape=box, label="audit"];
                e5 [shape=plaintext, label="entry"];
                s5 [shape=box, label="unlimited"];
                s6 [shape=box, label="late"];
                start -> s1;
                s1 -> s3;
                s3 -> s2 [style=dashed, label="failure"];
                e4 -> s4;
                e5 -> s5;
            }
        "#]],
    );
}
