//! Runs that are full.

use std::time::Duration;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::TestEngine;
use dex::{ChildResult, ErrorKind, FailureKind, Options, SubFlow, testing};

use crate::Small;
use crate::support::{Counter, hours};

/// Keeps what it is given.
#[derive(Default)]
struct Keeper {
    calls: Counter,
}

const KIB_40: usize = 40 * 1024;

fn large() -> String {
    "x".repeat(KIB_40)
}

#[flow(output = String)]
impl Keeper {
    #[attribute]
    const A: Attribute<String>;
    #[attribute]
    const B: Attribute<String>;
    #[channel]
    const TEXTS: Channel<String>;
    #[channel]
    const GO: Channel<String>;

    #[step(start)]
    async fn begin(&self, _input: String) -> StepResult<Self> {
        Ok(Next::to(Self::WAIT, ()))
    }

    #[wait_for(wait)]
    fn go(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn wait(&self, ctx: &mut StepContext<Self>, _input: (), place: String) -> StepResult<Self> {
        self.calls.add();
        match place.as_str() {
            "attribute" => ctx.set(Self::B, large())?,
            "message" => ctx.publish(Self::TEXTS, large())?,
            "checkpoint" => ctx.checkpoint(&large())?,
            "input" => return Ok(Next::to(Self::KEEP, large())),
            "output" => return Ok(Next::complete(large())),
            "local" => return Ok(Next::to(Self::LOCAL, ())),
            "child" => return Ok(Next::to(Self::CHILD, ())),
            "own" => return Ok(Next::to(Self::OWN, ())),
            _ => {}
        }
        Ok(Next::dead_end())
    }

    #[step]
    async fn keep(&self, _input: String) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[wait_for(local)]
    fn beside(&self) -> WaitResult<Self, (String, String)> {
        self.calls.add();
        Ok(Wait::one(Self::GO.one()).with(large()))
    }

    #[step]
    async fn local(&self, _input: (), _got: (String, String)) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[wait_for(child)]
    fn large_child(&self) -> WaitResult<Self, ChildResult<Small>> {
        self.calls.add();
        Ok(Wait::one(SubFlow::<Small>::run(large())))
    }

    #[step]
    async fn child(&self, _input: (), _end: ChildResult<Small>) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    /// Its child gives back more than the run has room for.
    #[wait_for(own)]
    fn doubling(&self) -> WaitResult<Self, ChildResult<Doubling>> {
        Ok(Wait::one(SubFlow::<Doubling>::run(())))
    }

    #[step]
    async fn own(&self, _input: (), end: ChildResult<Doubling>) -> StepResult<Self> {
        let why = end.end().to_string();
        Ok(Next::complete(why))
    }

    #[rpc]
    async fn put(&self, ctx: &mut RpcContext<Self>, text: String) -> RpcResult<()> {
        ctx.set(Self::B, text)
    }
}

/// A child with a large output.
struct Doubling;

#[flow(output = String)]
impl Doubling {
    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::complete(large()))
    }
}

#[track_caller]
fn says_full(text: &str) {
    for word in ["the run's state would take ", " bytes, the limit is 65536"] {
        assert!(text.contains(word), "no `{word}`: {text}");
    }
}

async fn kept() -> (TestEngine, dex::Run<Keeper>) {
    let mut options = Options::default();
    options.limits.state_bytes_max = 64 * 1024;
    let builder = testing::engine().flow(Keeper::default()).flow(Small).flow(Doubling);
    let t = builder.options(options).start().await.unwrap();
    let run = t.client::<Keeper>().start("r", String::new()).with(Keeper::A, large()).await.unwrap();
    t.settle().await;
    (t, run)
}

#[tokio::test]
async fn what_a_run_has_no_room_for_is_refused_to_callers_and_changes_nothing() {
    let (t, run) = kept().await;
    let client = t.client::<Keeper>();
    let before = run.describe().await.unwrap();
    assert!((KIB_40..KIB_40 + 4096).contains(&before.state_bytes), "{before:?}");
    let errors = [
        run.publish(Keeper::TEXTS, large()).await.err().unwrap(),
        run.set(Keeper::B, large()).await.err().unwrap(),
        run.update(Keeper::B, |_| large()).await.err().unwrap(),
        run.put(large()).await.err().unwrap(),
        run.request_id("q").unwrap().put(large()).await.err().unwrap(),
        client.start("s", "x".repeat(70_000)).await.err().unwrap(),
        client
            .start("s", String::new())
            .with(Keeper::A, large())
            .with(Keeper::B, large())
            .await
            .err()
            .unwrap(),
        // The run that would be ended for it goes on.
        client.start("r", "x".repeat(70_000)).reuse(dex::Reuse::TerminateIfRunning).await.err().unwrap(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::LimitReached, "{error:?}");
        says_full(&error.to_string());
    }
    assert!(client.run("s").await.err().unwrap().is_not_found());
    assert_eq!(run.describe().await.unwrap(), before);
    // What makes it smaller, and then what fits.
    run.set(Keeper::A, "short".into()).await.unwrap();
    run.put(large()).await.unwrap();
    run.delete(Keeper::B).await.unwrap();
    run.publish(Keeper::TEXTS, large()).await.unwrap();
    let error = run.set(Keeper::B, large()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::LimitReached);
    run.delete_message(Keeper::TEXTS, 1).await.unwrap();
    run.set(Keeper::B, large()).await.unwrap();
}

#[tokio::test]
async fn a_step_whose_outcome_has_no_room_is_parked_until_somebody_makes_room() {
    for (place, step, calls) in [
        ("attribute", "wait-1", 1),
        ("message", "wait-1", 1),
        ("checkpoint", "wait-1", 1),
        ("input", "wait-1", 1),
        ("output", "wait-1", 1),
        ("local", "local-1", 2),
        ("child", "child-1", 2),
    ] {
        let (t, run) = kept().await;
        run.publish(Keeper::GO, place.into()).await.unwrap();
        t.advance(hours(10)).await;
        let info = run.describe().await.unwrap();
        assert_eq!(info.steps.len(), 1, "{place}: {info:?}");
        assert_eq!((info.steps[0].id.as_str(), info.steps[0].phase), (step, StepPhase::Parked), "{place}");
        let failure = info.steps[0].last_failure.as_ref().unwrap();
        assert_eq!((failure.kind, info.steps[0].failures), (FailureKind::Unworkable, 1), "{place}");
        says_full(&failure.message);
        assert_eq!(t.flow::<Keeper>().calls.get(), calls, "{place} was tried again");
        run.delete(Keeper::A).await.unwrap();
        run.retry_step(step).await.unwrap();
        t.settle().await;
        let info = run.describe().await.unwrap();
        assert!(info.steps.iter().all(|step| step.phase != StepPhase::Parked), "{place}: {info:?}");
    }
}

#[tokio::test]
async fn the_end_of_a_child_that_has_no_room_is_told_as_such() {
    let (t, run) = kept().await;
    run.publish(Keeper::GO, "own".into()).await.unwrap();
    t.settle().await;
    let output = run.output().timeout(Duration::ZERO).await.unwrap();
    says_full(&output);
    assert!(output.contains("too much for its parent"), "{output}");
}

/// Operators get every full run going, or ended.
#[tokio::test]
async fn a_full_run_can_be_operated() {
    for end in ["cancel", "terminate", "fail", "skip", "redirect"] {
        let (t, run) = kept().await;
        run.set(Keeper::B, "x".repeat(20 * 1024)).await.unwrap();
        run.publish(Keeper::GO, "attribute".into()).await.unwrap();
        t.settle().await;
        run.pause().await.unwrap();
        run.resume().await.unwrap();
        match end {
            "cancel" => run.cancel().await.unwrap(),
            "terminate" => run.terminate().await.unwrap(),
            "fail" => run.stop(dex::Stop::Fail, "full").await.unwrap(),
            "skip" => run.skip_step("wait-1").await.unwrap(),
            _ => run.redirect_step("wait-1", Keeper::KEEP, String::new()).await.unwrap(),
        }
        t.settle().await;
        assert!(run.describe().await.unwrap().steps.is_empty(), "{end}");
    }
}

/// The size is a fold of the history, like everything: it is the same after a crash, and in a later build with another
/// limit, in which a run that is over it goes on as long as it does not grow.
#[tokio::test]
async fn a_lower_limit_stops_no_run_that_does_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let builder = || testing::engine_in(folder.path()).flow(Keeper::default()).flow(Small).flow(Doubling);
    let t = builder().start().await.unwrap();
    let run = t.client::<Keeper>().start("r", String::new()).with(Keeper::A, large()).await.unwrap();
    run.publish(Keeper::TEXTS, large()).await.unwrap();
    t.settle().await;
    let size = run.describe().await.unwrap().state_bytes;
    t.shutdown(Duration::ZERO).await.unwrap();

    let mut options = Options::default();
    options.limits.state_bytes_max = 50_000;
    let t = builder().options(options).start().await.unwrap();
    let run = t.client::<Keeper>().run("r").await.unwrap();
    assert_eq!(run.describe().await.unwrap().state_bytes, size);
    assert_eq!(run.set(Keeper::B, "1".into()).await.err().unwrap().kind(), ErrorKind::LimitReached);
    assert_eq!(run.publish(Keeper::GO, "done".into()).await.err().unwrap().kind(), ErrorKind::LimitReached);
    run.set(Keeper::A, "y".repeat(KIB_40)).await.unwrap();
    run.delete(Keeper::A).await.unwrap();
    run.publish(Keeper::GO, "done".into()).await.unwrap();
    t.settle().await;
    assert!(run.describe().await.unwrap().steps.is_empty());
}
