//! A new build on an old store: what holds for executions that an earlier build has scheduled.
#![cfg(test)]

use std::time::Duration;

use dex::inspect::{StepInfo, StepPhase};
use dex::prelude::*;
use dex::testing::{self, TestEngine};
use dex::{FailureKind, Timestamp};
use tempfile::TempDir;

const MINUTE: Duration = Duration::from_mins(1);

/// The first build: its movement to `work` says how often it is tried, and which step takes over.
mod first {
    use super::*;

    pub(super) struct Works;

    #[flow(output = String)]
    impl Works {
        #[step(start)]
        async fn begin(&self) -> StepResult<Self> {
            let options = StepOptions::new().attempts(3).on_failure(Self::MEND);
            Ok(Next::to_with(Self::WORK, (), options))
        }

        #[step(timeout = "10s", retry(attempts = 9, initial = "1h", max_interval = "1h"))]
        async fn work(&self) -> StepResult<Self> {
            Err(StepError::new("the first build cannot do it"))
        }

        #[step(entry)]
        async fn mend(&self) -> StepResult<Self> {
            Ok(Next::complete("mended".into()))
        }
    }
}

/// The second: another timeout and other pauses, fewer attempts.
mod second {
    use super::*;

    pub(super) struct Works;

    #[flow(output = String)]
    impl Works {
        #[step(start)]
        async fn begin(&self) -> StepResult<Self> {
            Ok(Next::to(Self::WORK, ()))
        }

        #[step(timeout = "5s", retry(attempts = 1, initial = "1m", max_interval = "1m"))]
        async fn work(&self) -> StepResult<Self> {
            std::future::pending().await
        }

        #[step(entry, name = "repair", alias = "mend")]
        async fn repair(&self) -> StepResult<Self> {
            Ok(Next::complete("repaired".into()))
        }
    }
}

/// The third has no step that takes over.
mod third {
    use super::*;

    pub(super) struct Works;

    #[flow(output = String)]
    impl Works {
        #[step(start)]
        async fn begin(&self) -> StepResult<Self> {
            Ok(Next::to(Self::WORK, ()))
        }

        #[step]
        async fn work(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
            if ctx.attempt() == 1 {
                return Ok(Next::complete("done".into()));
            }
            Err(StepError::fatal("nor can the third"))
        }
    }
}

async fn build<F: Flow>(folder: &TempDir, now: Option<Timestamp>, flow: F) -> TestEngine {
    let builder = testing::engine_in(folder.path());
    let builder = match now {
        Some(now) => builder.now(now),
        None => builder,
    };
    builder.flow(flow).start().await.unwrap()
}

/// A run whose first attempt at `work` has failed in the first build. Gives the time then.
async fn begun(folder: &TempDir) -> Timestamp {
    let t = build(folder, None, first::Works).await;
    t.client::<first::Works>().start("r", ()).await.unwrap();
    t.settle().await;
    t.shutdown(Duration::ZERO).await.unwrap();
    t.now()
}

async fn step(run: &dex::RunHandle<impl Flow>) -> StepInfo {
    run.describe().await.unwrap().steps.remove(0)
}

#[tokio::test]
async fn what_a_movement_set_holds_in_a_later_build_and_the_rest_is_that_builds() {
    let folder = TempDir::new().unwrap();
    let now = begun(&folder).await;
    let t = build(&folder, Some(now), second::Works).await;
    let run = t.client::<second::Works>().run("r").await.unwrap();
    // The pause was decided in the first build.
    let due = step(&run).await.due.unwrap();
    t.advance(due.since(t.now()) + Duration::from_secs(6)).await;
    let info = step(&run).await;
    let failure = info.last_failure.clone().unwrap();
    assert_eq!(
        (info.failures, failure.kind),
        (2, FailureKind::Timeout),
        "the second build would try it once"
    );
    assert!(failure.message.ends_with("longer than 5s"), "the timeout is that of the second: {failure:?}");
    assert!(info.due.unwrap().since(info.since) < 2 * MINUTE, "its pauses, too: {info:?}");
    t.advance(3 * MINUTE).await;
    // Three attempts, then the step that took the name of the one in the patch.
    assert_eq!(run.output().await.unwrap(), "repaired");
}

#[tokio::test]
async fn a_step_whose_recovery_is_gone_is_parked_until_somebody_looks() {
    let folder = TempDir::new().unwrap();
    let now = begun(&folder).await;
    let t = build(&folder, Some(now), third::Works).await;
    let run = t.client::<third::Works>().run("r").await.unwrap();
    t.advance(Duration::from_hours(3)).await;
    let info = step(&run).await;
    assert_eq!(
        (info.phase, info.patch.unwrap().to_string().as_str()),
        (StepPhase::Parked, "attempts = 3, on_failure = mend")
    );
    assert_eq!(info.last_failure.unwrap().message, "nor can the third");
    run.retry_step("work-1").await.unwrap();
    t.settle().await;
    assert_eq!(run.output().await.unwrap(), "done");
}
