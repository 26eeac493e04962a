//! What a wait, a child and a request have left in a run, read by a build whose types have changed: the step is parked
//! with the reason, the caller is told, and nothing is tried again.
#![cfg(test)]

mod support;

use std::time::Duration;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::{self, TestBuilder, TestEngine};
use dex::{ErrorKind, FailureKind};
use support::hours;
use tempfile::TempDir;

const SECRET: &str = "secret";

/// A parent that has all its values as `$value`.
macro_rules! build {
    ($name:ident, $value:ty, $of:expr) => {
        mod $name {
            use super::*;

            pub(super) struct Child;

            #[flow(output = $value, name = "Child")]
            impl Child {
                #[step(start)]
                async fn end(&self, _input: ()) -> StepResult<Self> {
                    Ok(Next::complete($of))
                }
            }

            pub(super) struct Parent;

            #[flow(name = "Parent")]
            impl Parent {
                #[channel]
                pub(super) const GO: Channel<()>;

                #[step(start)]
                async fn begin(&self, place: String) -> StepResult<Self> {
                    Ok(if place == "child" { Next::to(Self::FAMILY, ()) } else { Next::to(Self::LOCAL, ()) })
                }

                #[wait_for(local)]
                fn computed(&self) -> WaitResult<Self, ((), $value)> {
                    Ok(Wait::one(Self::GO.one()).with($of))
                }

                #[step]
                async fn local(&self, _input: (), _got: ((), $value)) -> StepResult<Self> {
                    Ok(Next::complete(()))
                }

                #[wait_for(family)]
                fn child_and_word(&self) -> WaitResult<Self, (ChildResult<Child>, ())> {
                    Ok(Wait::all((SubFlow::<Child>::run(()), Self::GO.one())))
                }

                #[step]
                async fn family(&self, _input: (), _got: (ChildResult<Child>, ())) -> StepResult<Self> {
                    Ok(Next::complete(()))
                }

                #[rpc]
                pub(super) async fn answer(&self, ctx: &mut RpcContext<Self>) -> RpcResult<$value> {
                    ctx.note("asked", &())?;
                    Ok($of)
                }
            }
        }
    };
}

build!(first, String, SECRET.to_owned());
build!(second, u64, 1_u64);

fn in_folder(folder: &TempDir) -> TestBuilder {
    testing::engine_in(folder.path())
}

/// A run that the first build has begun and asked once, in the second.
async fn later(folder: &TempDir, place: &str) -> (TestEngine, dex::Run<second::Parent>) {
    let t = in_folder(folder).flow(first::Parent).flow(first::Child).start().await.unwrap();
    let run = t.client::<first::Parent>().start("r", place.into()).await.unwrap();
    run.request_id("question-1").unwrap().answer().await.unwrap();
    t.settle().await;
    let now = t.now();
    t.shutdown(Duration::ZERO).await.unwrap();
    let builder = in_folder(folder).now(now).flow(second::Parent).flow(second::Child);
    let t = builder.start().await.unwrap();
    let run = t.client::<second::Parent>().run("r").await.unwrap();
    (t, run)
}

#[tokio::test]
async fn a_step_whose_wait_left_what_does_not_fit_is_parked_at_the_first_attempt() {
    for (place, step) in [("local", "local-1"), ("child", "family-1")] {
        let folder = TempDir::new().unwrap();
        let (t, run) = later(&folder, place).await;
        run.publish(second::Parent::GO, ()).await.unwrap();
        t.advance(hours(2)).await;
        let info = run.describe().await.unwrap();
        let parked = &info.steps[0];
        assert_eq!((parked.id.as_str(), parked.phase), (step, StepPhase::Parked), "{place}: {info:?}");
        let failure = parked.last_failure.as_ref().unwrap();
        assert_eq!((failure.kind, parked.failures), (FailureKind::Unworkable, 1), "{place}");
        assert!(failure.message.contains("the outcome of the wait"), "{place}: {}", failure.message);
        assert!(!failure.message.contains(SECRET), "{place}: the value is told: {}", failure.message);
        // Nothing else is to be done about it but to end it or to go back to the build that fits.
        run.skip_step(step).await.unwrap();
    }
}

#[tokio::test]
async fn a_remembered_answer_that_does_not_fit_is_told_and_the_call_is_not_made_again() {
    let folder = TempDir::new().unwrap();
    let (_t, run) = later(&folder, "local").await;
    let before = run.describe().await.unwrap();
    let error = run.request_id("question-1").unwrap().answer().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error:?}");
    assert!(error.to_string().contains("the answer of RPC `answer`"), "{error}");
    assert_eq!(run.describe().await.unwrap(), before, "nothing was changed");
    // Another request is another call.
    assert_eq!(run.request_id("question-2").unwrap().answer().await.unwrap(), 1);
}
