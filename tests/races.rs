//! Two that change a run in one moment: what the first one did is decided, and is not on disk yet.
#![cfg(test)]

mod support;

use std::pin::Pin;
use std::sync::Arc;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::{self, FailAt, TestEngine};
use dex::{ErrorKind, ParentEnd, Result, Run, Status};
use support::Counter;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

type Call = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Lets everything go on that does not wait for a commit.
async fn go_on() {
    for _ in 0..100 {
        // Reads of the store are made on threads of their own.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        tokio::task::yield_now().await;
    }
}

fn call<F: Flow>(run: &F::Run, call: fn(F::Run) -> Call) -> JoinHandle<Result<()>>
where
    F::Run: Clone,
{
    tokio::spawn(call(run.clone()))
}

/// Works until it is told that its work is done.
#[derive(Clone, Default)]
struct Work {
    done: Arc<Notify>,
}

#[flow(output = u64)]
impl Work {
    #[step(start)]
    async fn work(&self) -> StepResult<Self> {
        self.done.notified().await;
        Ok(Next::complete(7))
    }
}

/// A run whose last step has ended, and two stops of it that came after, when nothing of it is on disk.
async fn stops_at_the_end(lost: bool) -> (Status, [Result<()>; 2]) {
    let work = Work::default();
    let t = testing::engine().flow(work.clone()).start().await.unwrap();
    let run = t.client::<Work>().start("r", ()).await.unwrap();
    go_on().await;
    let gate = t.store().gate();
    if lost {
        t.store().fail_commit(1, FailAt::BeforeWriting);
    }
    work.done.notify_one();
    go_on().await;
    let cancel = call::<Work>(&run, |run| Box::pin(async move { run.cancel().await }));
    let terminate = call::<Work>(&run, |run| Box::pin(async move { run.terminate().await }));
    go_on().await;
    assert!(!cancel.is_finished() && !terminate.is_finished(), "a stop was told of what is not on disk");
    drop(gate);
    let told = [cancel.await.unwrap(), terminate.await.unwrap()];
    t.settle().await;
    (run.describe().await.unwrap().status, told)
}

#[tokio::test]
async fn a_stop_that_comes_in_the_moment_of_the_end_is_told_of_the_end() {
    let (status, told) = stops_at_the_end(false).await;
    assert_eq!(status, Status::Completed);
    for stop in told {
        let error = stop.unwrap_err();
        assert_eq!((error.kind(), error.existing_run().unwrap().1), (ErrorKind::Closed, Status::Completed));
    }
}

#[tokio::test]
async fn a_stop_that_comes_in_the_moment_of_an_end_that_is_lost_stops_the_run() {
    let (status, [cancel, terminate]) = stops_at_the_end(true).await;
    assert!(
        status == Status::Canceled || status == Status::Terminated,
        "{status:?} {cancel:?} {terminate:?}"
    );
    // The later one may have come when the run had ended; neither is told of an end that was lost.
    for (stop, name) in [(cancel, "cancel"), (terminate, "terminate")] {
        let told = stop.map_err(|error| (error.kind(), error.existing_run().map(|(_, status)| status)));
        let fits =
            matches!(told, Ok(()) | Err((ErrorKind::Closed, Some(Status::Canceled | Status::Terminated))));
        assert!(fits, "{name}: {told:?}");
    }
}

/// Has its work done by a child.
struct Boss;

#[flow(output = u64)]
impl Boss {
    #[step(start)]
    async fn begin(&self, cancel: bool) -> StepResult<Self> {
        Ok(Next::to(Self::HEAR, cancel))
    }

    #[wait_for(hear)]
    fn the_work(&self, cancel: &bool) -> WaitResult<Self, ChildResult<Work>> {
        let end = if *cancel { ParentEnd::Cancel } else { ParentEnd::Terminate };
        Ok(Wait::one(SubFlow::run(()).on_parent_end(end)))
    }

    #[step]
    async fn hear(&self, _cancel: bool, done: ChildResult<Work>) -> StepResult<Self> {
        Ok(Next::complete(done.into_result()?))
    }
}

/// A child has ended and its parent is stopped, or the other way round, when the first one is not on disk yet.
async fn family(cancel: bool, child_first: bool) {
    let work = Work::default();
    let t = testing::engine().flow(work.clone()).flow(Boss).start().await.unwrap();
    let boss = t.client::<Boss>().start("boss", cancel).await.unwrap();
    go_on().await;
    let children = boss.describe().await.unwrap().children;
    let child = t.client::<Work>().run(children[0].flow_id.as_str()).await.unwrap();
    let gate = t.store().gate();
    let stop = || call::<Boss>(&boss, |boss| Box::pin(async move { boss.terminate().await }));
    let stopped = if child_first {
        work.done.notify_one();
        go_on().await;
        stop()
    } else {
        let stopped = stop();
        go_on().await;
        work.done.notify_one();
        stopped
    };
    go_on().await;
    drop(gate);
    stopped.await.unwrap().unwrap();
    t.settle().await;
    let status = (boss.describe().await.unwrap().status, child.describe().await.unwrap().status);
    assert_eq!(status, (Status::Terminated, Status::Completed), "{cancel} {child_first}");
    assert_eq!(child.output().await.unwrap(), 7);
    assert_nothing_is_left(&t).await;
}

/// Nobody has still to tell anyone anything, now or in the next opening.
async fn assert_nothing_is_left(t: &TestEngine) {
    for _ in 0..2 {
        assert_eq!(t.dex().inspect().resident().await.unwrap(), []);
        t.restart().await.unwrap();
        t.settle().await;
    }
}

#[tokio::test]
async fn a_child_that_ends_in_the_moment_of_its_parents_stop_has_ended_as_it_did() {
    for cancel in [true, false] {
        family(cancel, true).await;
        family(cancel, false).await;
    }
}

/// Cannot go on.
#[derive(Clone, Default)]
struct Stuck {
    calls: Counter,
}

#[flow(output = ())]
impl Stuck {
    #[step(start, on_exhausted = park)]
    async fn begin(&self) -> StepResult<Self> {
        self.calls.add();
        Err(StepError::fatal("never"))
    }

    #[step(entry)]
    async fn elsewhere(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

type Operator = fn(Run<Stuck>) -> Call;

fn retry(run: Run<Stuck>) -> Call {
    Box::pin(async move { run.retry_step("begin-1").await })
}

fn skip(run: Run<Stuck>) -> Call {
    Box::pin(async move { run.skip_step("begin-1").await })
}

fn redirect(run: Run<Stuck>) -> Call {
    Box::pin(async move { run.redirect_step("begin-1", Stuck::ELSEWHERE, ()).await })
}

#[tokio::test]
async fn of_operators_who_act_on_a_step_in_one_moment_the_first_one_has_his_way() {
    let orders: [[Operator; 3]; 4] =
        [[retry, skip, redirect], [skip, retry, redirect], [redirect, skip, retry], [retry, retry, retry]];
    for (order, operators) in orders.into_iter().enumerate() {
        let stuck = Stuck::default();
        let t = testing::engine().flow(stuck.clone()).start().await.unwrap();
        let run = t.client::<Stuck>().start("r", ()).await.unwrap();
        t.settle().await;
        let gate = t.store().gate();
        let mut told = Vec::new();
        for operator in operators {
            told.push(call::<Stuck>(&run, operator));
            go_on().await;
        }
        assert!(told.iter().all(|told| !told.is_finished()), "{order}: told of what is not on disk");
        drop(gate);
        for (place, told) in told.into_iter().enumerate() {
            let told = told.await.unwrap().map_err(|error| error.kind());
            let is_refused = matches!(told, Err(ErrorKind::NotFound | ErrorKind::Closed));
            assert_eq!((told.is_ok(), is_refused), (place == 0, place > 0), "{order}: {told:?}");
        }
        t.settle().await;
        let info = run.describe().await.unwrap();
        let redirected = order == 2;
        let calls = if order == 0 || order == 3 { 2 } else { 1 };
        let status = if redirected { Status::Completed } else { Status::Running };
        assert_eq!((stuck.calls.get(), info.status), (calls, status), "{order}: {info:?}");
        assert!(info.steps.iter().all(|step| step.phase == StepPhase::Parked), "{order}: {info:?}");
    }
}
