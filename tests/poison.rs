//! A step that kills its process, again and again: real processes that abort.
#![cfg(test)]

mod support;

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use dex::FailureKind;
use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::{Dex, testing};
use support::seconds;

/// Set for the process that is to die; names the folder of its store.
const FOLDER: &str = "DEX_TEST_POISON_FOLDER";

/// Its one step kills the process.
struct Poison;

#[flow(output = (), endless)]
impl Poison {
    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        std::process::abort()
    }
}

/// Goes on for ever, in short steps.
struct Innocent;

#[flow(output = (), endless)]
impl Innocent {
    #[step(start)]
    async fn tick(&self, _input: ()) -> StepResult<Self> {
        tokio::task::yield_now().await;
        Ok(Next::to(Self::TICK, ()))
    }
}

/// The process that is to die; it ends well once the poisonous step is parked.
async fn child(folder: &Path) {
    let dex = Dex::open(folder).flow(Poison).flow(Innocent).start().await.unwrap();
    let (poison, innocent) = (dex.client::<Poison>(), dex.client::<Innocent>());
    if innocent.run("i").await.is_err() {
        innocent.start("i", ()).await.unwrap();
    }
    if poison.run("p").await.is_err() {
        poison.start("p", ()).await.unwrap();
    }
    let run = poison.run("p").await.unwrap();
    while run.describe().await.unwrap().steps[0].phase != StepPhase::Parked {
        tokio::task::yield_now().await;
    }
    let info = run.describe().await.unwrap();
    assert_eq!(info.steps[0].last_failure.as_ref().unwrap().kind, FailureKind::Crash);
    assert!(info.explain().contains("the process died 3 times"), "{}", info.explain());
    // What merely ran beside it goes on.
    let innocent = innocent.run("i").await.unwrap();
    let before = innocent.describe().await.unwrap().transitions;
    while innocent.describe().await.unwrap().transitions < before + 10 {
        tokio::task::yield_now().await;
    }
    dex.shutdown(Duration::from_secs(5)).await.unwrap();
}

fn spawn_child(folder: &Path) -> ExitStatus {
    let this_test = std::env::current_exe().unwrap();
    let mut command = Command::new(this_test);
    command.args(["--exact", "a_step_that_kills_its_process_three_times_is_parked"]).env(FOLDER, folder);
    command.output().unwrap().status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_kills_its_process_three_times_is_parked() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let lived = tokio::time::timeout(Duration::from_mins(1), child(Path::new(&folder))).await;
        return lived.expect("the step is parked, and what is innocent goes on");
    }
    let folder = tempfile::tempdir().unwrap();
    for death in 1..=3 {
        assert!(!spawn_child(folder.path()).success(), "death {death}");
    }
    assert!(spawn_child(folder.path()).success(), "the step is parked and the process lives");
}

/// Hangs.
struct Slow;

#[flow(output = (), endless)]
impl Slow {
    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_handler_that_is_cut_off_by_an_orderly_shutdown_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        let t = testing::engine_in(folder.path()).flow(Slow).start().await.unwrap();
        let client = t.client::<Slow>();
        if client.run("r").await.is_err() {
            client.start("r", ()).await.unwrap();
        }
        t.settle().await;
        let info = client.run("r").await.unwrap().describe().await.unwrap();
        assert_eq!((info.steps[0].phase, info.transitions), (StepPhase::Running, 1));
        t.shutdown(seconds(0)).await.unwrap();
    }
}
