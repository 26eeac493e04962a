//! What steps decide: going on, fanning out, completing, failing, ending a branch, recovering.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{Closing, ErrorKind, Status};
use serde::{Deserialize, Serialize};
use support::{ALL, IN_MEMORY, each_way, hours};

/// Fans out over parts and joins them through a channel.
struct FanOut;

#[flow(output = Vec<u32>)]
impl FanOut {
    #[channel]
    const DONE: Channel<u32>;

    #[step(start)]
    async fn split(&self, parts: u32) -> StepResult<Self> {
        Ok(Next::each(Self::PART, 1..=parts).and(Self::JOIN, parts))
    }

    #[step]
    async fn part(&self, ctx: &mut StepContext<Self>, part: u32) -> StepResult<Self> {
        ctx.publish(Self::DONE, part * 10)?;
        Ok(Next::dead_end())
    }

    #[wait_for(join)]
    fn all_parts(&self, _ctx: &WaitContext<Self>, parts: &u32) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::one(Self::DONE.n(*parts as usize)))
    }

    #[step]
    async fn join(&self, _parts: u32, mut done: Vec<u32>) -> StepResult<Self> {
        done.sort_unstable();
        Ok(Next::complete(done))
    }
}

/// What a branch of [`Branches`] does.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Branch {
    Complete(String),
    CompleteNow(String),
    Fail(String),
    DeadEnd,
    Wait,
}

/// Starts the branches that its input names.
struct Branches;

#[flow(output = String)]
impl Branches {
    #[channel]
    const GO: Channel<String>;

    #[step(start)]
    async fn begin(&self, branches: Vec<Branch>) -> StepResult<Self> {
        Ok(Next::each(Self::BRANCH, branches))
    }

    #[step]
    async fn branch(&self, branch: Branch) -> StepResult<Self> {
        Ok(match branch {
            Branch::Complete(output) => Next::complete(output),
            Branch::CompleteNow(output) => Next::complete_now(output),
            Branch::Fail(reason) => Next::fail(reason),
            Branch::DeadEnd => Next::dead_end(),
            Branch::Wait => Next::to(Self::LAST, ()),
        })
    }

    #[wait_for(last)]
    fn a_message(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn last(&self, _input: (), message: String) -> StepResult<Self> {
        Ok(Next::complete(message))
    }
}

/// Fails in its first step and in the recovery of that, and is recovered at last.
struct Recovering;

#[flow(output = Vec<String>)]
impl Recovering {
    #[attribute]
    const TRACE: Attribute<Vec<String>>;

    #[step(start, retry(attempts = 2), on_failure = second)]
    async fn first(&self, ctx: &mut StepContext<Self>, input: String) -> StepResult<Self> {
        ctx.set(Self::TRACE, vec!["a failed attempt wrote this".into()])?;
        Err(StepError::new(format!("first of {input}, attempt {}", ctx.attempt())))
    }

    #[step(on_failure = third)]
    async fn second(&self, ctx: &mut StepContext<Self>, input: String) -> StepResult<Self> {
        let recovery = ctx.recovery().ok_or_else(|| StepError::fatal("no recovery"))?;
        let told = format!("{} {} {}", recovery.step, recovery.attempts, recovery.failure.message);
        Err(StepError::fatal(format!("second of {input}, after [{told}]")))
    }

    #[step]
    async fn third(&self, ctx: &mut StepContext<Self>, input: String) -> StepResult<Self> {
        let trace = ctx.get(Self::TRACE)?.unwrap_or_default();
        let recovery = ctx.recovery().ok_or_else(|| StepError::fatal("no recovery"))?;
        let told = format!("{} {} {}", recovery.step, recovery.attempts, recovery.failure.message);
        Ok(Next::complete([trace, vec![input, told]].concat()))
    }
}

#[tokio::test]
async fn a_fan_out_joins_with_every_part_counted_once() {
    each_way(
        ALL,
        || FanOut,
        async |t| {
            t.client().start("r", 12).await.unwrap();
            t.phase().await;
            let expected: Vec<_> = (1..=12).map(|part| part * 10).collect();
            assert_eq!(t.run().await.output().await.unwrap(), expected);
        },
    )
    .await;
}

#[tokio::test]
async fn outputs_of_several_branches_are_all_there_each_with_its_step() {
    each_way(
        IN_MEMORY,
        || Branches,
        async |t| {
            let branches = vec![Branch::Complete("a".into()), Branch::DeadEnd, Branch::Complete("b".into())];
            let run = t.client().start("r", branches).await.unwrap();
            let result = run.result().await.unwrap();
            assert_eq!(result.status(), Status::Completed);
            let mut outputs = result.outputs().unwrap();
            outputs.sort();
            assert_eq!(outputs, [("branch-1".into(), "a".into()), ("branch-3".into(), "b".into())]);
            // One output is not any of two.
            assert_eq!(run.output().await.err().unwrap().kind(), ErrorKind::InvalidValue);
        },
    )
    .await;
}

#[tokio::test]
async fn completing_waits_for_the_other_branches() {
    each_way(
        IN_MEMORY,
        || Branches,
        async |t| {
            let branches = vec![Branch::Complete("early".into()), Branch::Wait];
            t.client().start("r", branches).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.describe().await.unwrap().status, Status::Running);
            run.publish(Branches::GO, "late".into()).await.unwrap();
            t.phase().await;
            let outputs = t.run().await.result().await.unwrap().outputs().unwrap();
            assert_eq!(outputs, [("branch-1".into(), "early".into()), ("last-1".into(), "late".into())]);
        },
    )
    .await;
}

#[tokio::test]
async fn completing_now_ends_the_other_branches() {
    each_way(
        IN_MEMORY,
        || Branches,
        async |t| {
            let branches = vec![Branch::Wait, Branch::CompleteNow("now".into())];
            let run = t.client().start("r", branches).await.unwrap();
            assert_eq!(run.output().await.unwrap(), "now");
            assert_eq!(run.describe().await.unwrap().steps.len(), 0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_branch_that_fails_ends_the_run_with_its_reason() {
    each_way(
        IN_MEMORY,
        || Branches,
        async |t| {
            let run =
                t.client().start("r", vec![Branch::Wait, Branch::Fail("no stock".into())]).await.unwrap();
            let result = run.result().await.unwrap();
            assert_eq!(result.closing(), &Closing::Failed { reason: "no stock".into() });
            let error = run.output().await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::RunFailed);
            assert!(error.to_string().contains("no stock"), "{error}");
            assert_eq!(error.existing_run(), Some((run.run_id(), Status::Failed)));
        },
    )
    .await;
}

#[tokio::test]
async fn a_run_whose_branches_all_end_dead_stays_open() {
    each_way(
        IN_MEMORY,
        || Branches,
        async |t| {
            t.client().start("r", vec![Branch::DeadEnd, Branch::DeadEnd]).await.unwrap();
            t.phase().await;
            let info = t.run().await.describe().await.unwrap();
            assert_eq!((info.status, info.steps.len()), (Status::Running, 0));
            assert!(info.explain().contains("no step"), "{}", info.explain());
        },
    )
    .await;
}

#[tokio::test]
async fn a_decision_for_no_step_at_all_parks_the_step() {
    each_way(
        IN_MEMORY,
        || Branches,
        async |t| {
            t.client().start("r", vec![]).await.unwrap();
            t.phase().await;
            let explained = t.run().await.describe().await.unwrap().explain();
            assert!(explained.contains("begin-1 is parked"), "{explained}");
            assert!(explained.contains("names no next step"), "{explained}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_recovery_step_gets_the_input_and_the_failure_and_may_be_recovered_itself() {
    each_way(
        ALL,
        || Recovering,
        async |t| {
            t.client().start("r", "in".into()).await.unwrap();
            t.phase().await;
            t.advance(hours(1)).await;
            t.phase().await;
            let output = t.run().await.output().await.unwrap();
            let first = "first 2 first of in, attempt 2";
            let expected = vec!["in".to_owned(), format!("second 1 second of in, after [{first}]")];
            assert_eq!(output, expected);
        },
    )
    .await;
}
