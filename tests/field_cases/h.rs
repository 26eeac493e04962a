//! Stopping runs, whatever they do and however broken they are.

use std::time::Duration;

use dex::prelude::*;
use dex::testing;
use dex::{Closing, ErrorKind, Reuse, Status, Stop};
use dex_runtime::store::Store;
use dex_runtime::store::fjall::{FjallOptions, FjallStore};

use crate::k::{Spoil, spoiled};
use crate::support::{engine, hours, seconds};

/// Waits a second.
struct Second;

#[flow(output = ())]
impl Second {
    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::END, ()))
    }

    #[wait_for(end)]
    fn a_second(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(1))))
    }

    #[step]
    async fn end(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// H1
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_in_the_instant_of_a_timer_ends_the_run_in_one_way_and_disturbs_nobody() {
    let t = engine(Second).await;
    let mut canceled = 0;
    for round in 0..200 {
        let run = t.client::<Second>().start(format!("r{round}"), ()).await.unwrap();
        let other = t.client::<Second>().start(format!("other-{round}"), ()).await.unwrap();
        t.settle().await;
        let cancel = tokio::spawn({
            let run = run.clone();
            async move { run.cancel().await.is_ok() }
        });
        t.advance(seconds(1)).await;
        let won = cancel.await.unwrap();
        canceled += usize::from(won);
        let status = run.result().await.unwrap().status();
        assert_eq!(status, if won { Status::Canceled } else { Status::Completed });
        // Again, and again on what has ended.
        for _ in 0..2 {
            let error = run.cancel().await.err().unwrap();
            assert_eq!(error.existing_run(), Some((run.run_id(), status)));
        }
        other.output().await.unwrap();
    }
    assert!(canceled > 0, "no cancel was in time");
}

/// Breaks in the way that its input says.
struct Breaks;

#[flow(output = ())]
impl Breaks {
    #[attribute]
    const TEXT: Attribute<String>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, way: String) -> StepResult<Self> {
        match way.as_str() {
            "oversize" => ctx.set(Self::TEXT, "x".repeat(2 * 1024 * 1024))?,
            "panics" => panic!("in every attempt"),
            "hangs" => std::future::pending().await,
            "nowhere" => return Ok(Next::each(Self::BAD_WAIT, Vec::<()>::new())),
            "wait" => return Ok(Next::to(Self::BAD_WAIT, ())),
            _ => {}
        }
        Ok(Next::dead_end())
    }

    #[wait_for(bad_wait)]
    fn panics(&self) -> WaitResult<Self, ()> {
        panic!("in wait_for")
    }

    #[step]
    async fn bad_wait(&self, _input: (), _got: ()) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// The same flow in a build that reads its input otherwise.
struct Renamed;

#[flow(output = (), name = "Breaks")]
impl Renamed {
    #[step(start)]
    async fn other(&self, _input: u32) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

const BROKEN: [&str; 9] =
    ["oversize", "panics", "hangs", "nowhere", "wait", "dead end", "no record", "misfit", "with a mark"];

/// H4
#[tokio::test]
async fn a_run_that_is_broken_in_whatever_way_can_be_terminated_and_its_id_used_again() {
    let t = engine(Breaks).await;
    let mut runs = Vec::new();
    for id in BROKEN {
        runs.push(t.client::<Breaks>().start(id, id.into()).await.unwrap().run_id());
    }
    let now = t.now();
    let t = spoiled(&t, Breaks, |store| {
        Spoil { marked: false, ..Spoil::NO_RECORD }.put(store, runs[6], now);
        Spoil::misfit().put(store, runs[7], now);
        Spoil::NO_RECORD.put(store, runs[8], now);
    })
    .await;
    t.settle().await;
    for id in BROKEN {
        let run = t.client::<Breaks>().run(id).await.unwrap();
        let waiting = run.result();
        run.stop(Stop::Terminate, "broken").await.unwrap_or_else(|error| panic!("{id}: {error:?}"));
        let reason = Some("broken".to_owned());
        let result = run.result().await.unwrap();
        assert_eq!(result.closing(), &Closing::Stopped { stop: Stop::Terminate, reason }, "{id}");
        drop(waiting);
        let error = run.cancel().await.err().unwrap();
        assert_eq!(error.existing_run(), Some((run.run_id(), Status::Terminated)), "{id}");
    }
    t.restart().await.unwrap();
    t.advance(hours(2)).await;
    assert_eq!(t.dex().inspect().resident().await.unwrap(), []);
    for id in BROKEN {
        let run = t.client::<Breaks>().run(id).await.unwrap();
        assert_eq!(run.describe().await.unwrap().status, Status::Terminated, "{id}");
        let again = t.client::<Breaks>().start(id, "dead end".into()).reuse(Reuse::AllowIfClosed);
        assert_ne!(again.await.unwrap().run_id(), run.run_id(), "{id}");
    }
}

/// H4
#[tokio::test]
async fn a_run_whose_steps_a_new_build_does_not_have_can_be_terminated() {
    let t = engine(Breaks).await;
    t.client::<Breaks>().start("r", "hangs".into()).await.unwrap();
    let t = spoiled(&t, Renamed, |_| {}).await;
    t.settle().await;
    let run = t.client::<Renamed>().run("r").await.unwrap();
    assert_eq!(run.describe().await.unwrap().steps[0].id, "begin-1");
    run.stop(Stop::Terminate, "gone").await.unwrap();
    assert_eq!(run.result().await.unwrap().status(), Status::Terminated);
}

/// H4
#[tokio::test]
async fn a_run_that_is_broken_on_disk_can_be_terminated_or_give_way_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let t = testing::engine_in(folder.path()).flow(Breaks).start().await.unwrap();
    let mut runs = Vec::new();
    for id in ["no record", "misfit", "replaced"] {
        runs.push(t.client::<Breaks>().start(id, "dead end".into()).await.unwrap().run_id());
    }
    t.settle().await;
    t.shutdown(Duration::ZERO).await.unwrap();
    let store = FjallStore::open(folder.path(), FjallOptions::default()).unwrap();
    Spoil::NO_RECORD.put(&store, runs[0], t.now());
    Spoil::misfit().put(&store, runs[1], t.now());
    Spoil::NO_RECORD.put(&store, runs[2], t.now());
    store.close().unwrap();
    drop(store);

    let t = testing::engine_in(folder.path()).flow(Breaks).start().await.unwrap();
    let client = t.client::<Breaks>();
    for id in ["no record", "misfit"] {
        let run = client.run(id).await.unwrap();
        assert_eq!(run.describe().await.err().unwrap().kind(), ErrorKind::Quarantined, "{id}");
        run.stop(Stop::Terminate, "broken").await.unwrap();
    }
    let broken = client.run("replaced").await.unwrap();
    let start = client.start("replaced", "dead end".into());
    let next = start.reuse(Reuse::TerminateIfRunning).await.unwrap();
    assert_ne!(next.run_id(), broken.run_id());
    t.restart().await.unwrap();
    t.advance(hours(2)).await;
    for run in [client.run("no record").await.unwrap(), client.run("misfit").await.unwrap(), broken] {
        assert_eq!(run.result().await.unwrap().status(), Status::Terminated);
    }
    assert_eq!(next.describe().await.unwrap().status, Status::Running);
}
