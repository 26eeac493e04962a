//! What has to be true of steered runs in the end.

use dex::Status;
use dex::inspect::{RunInfo, RunSummary, StepPhase};
use dex::testing::TestEngine;

use super::ledger::{Account, Ledger};
use super::plant::{Fate, Plant, Slow};

/// Checks everything, when nothing happens by itself but timers that come again.
pub(super) async fn audit(engine: &TestEngine, ledger: &Ledger) {
    let all = engine.dex().inspect().runs(None, 10_000).await.unwrap();
    for summary in &all {
        let info = info(engine, summary).await;
        assert_eq!(info.status, summary.status, "{summary:?}");
        assert!(engine.dex().inspect().verify(summary.run).await.unwrap(), "{info:?} is not its history");
        if summary.flow.as_str() != "Plant" {
            check_child(engine, summary).await;
            continue;
        }
        let account = ledger.runs.get(&summary.run).expect("somebody started it");
        check_status(account, ledger.was_replaced(summary.run), &info);
        check_steps(account, &info);
        let current = engine.client::<Plant>().run(summary.flow_id.as_str()).await.unwrap();
        if current.run_id() == summary.run {
            check_effects(engine, account, &info).await;
        }
    }
    let lost = ledger.runs.keys().find(|run| all.iter().all(|summary| summary.run != **run));
    assert_eq!(lost, None, "a run that was started is not there: {ledger:?}");
    // Those that have ended and told everyone are not in memory.
    let resident = engine.dex().inspect().resident().await.unwrap();
    let open = |run| all.iter().any(|summary| summary.run == run && !summary.status.is_closed());
    assert!(resident.iter().all(|run| open(*run)), "{resident:?} of {all:?}");
}

async fn info(engine: &TestEngine, summary: &RunSummary) -> RunInfo {
    engine.dex().inspect().run(summary.run).await.unwrap().unwrap()
}

/// Each end has somebody who asked for it, and who asked for one has got it.
fn check_status(account: &Account, replaced: bool, info: &RunInfo) {
    let ended = account.terminated || replaced;
    match info.status {
        Status::Running => assert!(!account.cancelled && !account.terminated, "{account:?}: {info:?}"),
        Status::Canceled => assert!(account.cancelled && !account.terminated, "{account:?}: {info:?}"),
        Status::Terminated => assert!(ended, "{account:?}: {info:?}"),
        other => panic!("{other:?}: {info:?}"),
    }
}

/// Nothing stands still that nobody holds up, and no branch is lost.
fn check_steps(account: &Account, info: &RunInfo) {
    let goes_on = |phase| matches!(phase, StepPhase::Waiting | StepPhase::Retrying);
    let stuck = info.steps.iter().find(|step| !goes_on(step.phase));
    assert_eq!(stuck, None, "{account:?}: {info:?}");
    let of = |step: &str| info.steps.iter().filter(|open| open.id.starts_with(step)).count();
    let branches = (of("take-") + of("spare-"), of("ring-"), of("build-"));
    let expected = if info.status == Status::Running { (2, 1, 0) } else { (0, 0, 0) };
    assert_eq!(branches, expected, "{account:?}: {info:?}");
}

/// Each message, call and redirection has had its effect once, or is still there.
async fn check_effects(engine: &TestEngine, account: &Account, info: &RunInfo) {
    let run = engine.client::<Plant>().run(info.flow_id.as_str()).await.unwrap();
    let list = async |attribute| sorted(run.get(attribute).await.unwrap().unwrap_or_default());
    let number = async |attribute| run.get(attribute).await.unwrap().unwrap_or_default();
    let (taken, built, scrapped) =
        (list(Plant::TAKEN).await, list(Plant::BUILT).await, list(Plant::SCRAPPED).await);
    let published = sorted(account.published.clone());
    assert_each_once_of(&taken, &published, info);
    let parts: Vec<_> = taken.iter().copied().filter(|number| number % 10 == 8).collect();
    assert_each_once_of(&built, &parts, info);
    let redirected = sorted(account.redirected.clone());
    assert_each_once_of(&scrapped, &redirected, info);
    assert_eq!(number(Plant::ADDED).await, account.added, "{info:?}");
    let left = (published.len() - taken.len() + parts.len() - built.len()) as u64;
    let held: usize = info.channels.iter().map(|channel| channel.waiting + channel.reserved).sum();
    let held = info.closed.as_ref().map_or(held as u64, |closed| closed.unconsumed);
    assert_eq!(held, left, "{account:?} {taken:?} {built:?}: {info:?}");
    let cleaned = number(Plant::CLEANED).await;
    match info.status {
        Status::Canceled => assert_eq!(cleaned, 1, "{info:?}"),
        Status::Running => {
            assert_eq!((taken, scrapped, cleaned), (published, redirected, 0), "{info:?}");
            // Who left a part there has left its step.
            let left = account.skipped + account.redirected.len() as u64;
            assert_eq!((parts.len() - built.len()) as u64, left, "{account:?}: {info:?}");
        }
        _ => assert!(cleaned <= 1, "{info:?}"),
    }
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

fn assert_each_once_of(some: &[u64], all: &[u64], info: &RunInfo) {
    assert!(some.is_sorted_by(|a, b| a < b), "something counts twice: {some:?} of {all:?}: {info:?}");
    let strange = some.iter().find(|number| !all.contains(number));
    assert_eq!(strange, None, "it is from nowhere: {some:?} of {all:?}: {info:?}");
}

/// A child did at its parent's end what it was to do, and its parent knows of its end.
async fn check_child(engine: &TestEngine, summary: &RunSummary) {
    let child = engine.client::<Slow>().run(summary.flow_id.as_str()).await.unwrap();
    let fate = child.get(Slow::FATE).await.unwrap().unwrap();
    let parent = child.describe().await.unwrap().parent.unwrap();
    let parent = engine.dex().inspect().run(parent.run_id).await.unwrap().unwrap();
    let known = parent.children.iter().find(|known| known.flow_id == summary.flow_id);
    // Ten minutes are enough for all of them.
    assert!(summary.status.is_closed(), "{summary:?} of {parent:?}");
    let ended = match fate {
        Fate::Leave => Status::Completed,
        Fate::Cancel => Status::Canceled,
        Fate::Terminate => Status::Terminated,
    };
    let fits = summary.status == Status::Completed || (summary.status == ended && parent.status.is_closed());
    assert!(fits, "{fate:?}: {summary:?} of {parent:?}");
    // A parent that has ended is told nothing, and remembers whom it left.
    assert!(known.is_none() || parent.status.is_closed(), "{summary:?} of {parent:?}");
}
