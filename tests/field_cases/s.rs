//! Sub-flows.

use std::sync::Arc;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::TestBuilder;
use dex::{ParentEnd, Reuse, Status};

use super::k::{Spoil, spoiled};
use crate::support::{Counter, IN_MEMORY, each_way_beside, seconds};

/// A child: completes at once, or when it is told to.
struct Errand;

#[flow(output = u64)]
impl Errand {
    #[channel]
    const GO: Channel<u64>;

    #[step(start)]
    async fn begin(&self, at_once: Option<u64>) -> StepResult<Self> {
        Ok(match at_once {
            Some(number) => Next::complete(number),
            None => Next::to(Self::WAIT, ()),
        })
    }

    #[wait_for(wait)]
    fn word(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn wait(&self, _input: (), number: u64) -> StepResult<Self> {
        Ok(Next::complete(number))
    }
}

fn errands(builder: TestBuilder) -> TestBuilder {
    builder.flow(Errand)
}

/// Waits for one child, and fails as often as it is told to before it completes with what the child gave.
struct Shaky {
    failures: usize,
    calls: Counter,
    seen: Arc<std::sync::Mutex<Vec<String>>>,
}

impl Shaky {
    fn new(failures: usize) -> Self {
        Self { failures, calls: Counter::default(), seen: Arc::default() }
    }
}

#[flow(output = u64)]
impl Shaky {
    #[wait_for(take)]
    fn child(&self) -> WaitResult<Self, ChildResult<Errand>> {
        Ok(Wait::one(SubFlow::run(None)))
    }

    #[step(start, on_exhausted = park, retry(attempts = 2, initial = "1s"))]
    async fn take(&self, _input: (), got: ChildResult<Errand>) -> StepResult<Self> {
        self.seen.lock().unwrap().push(format!("{} {:?}", got.id(), got.output()));
        if self.calls.add() <= self.failures {
            return Err(StepError::new("not yet"));
        }
        Ok(Next::complete(got.into_result()?))
    }
}

#[tokio::test]
async fn a_step_that_fails_after_its_child_has_ended_is_given_the_same_end_again() {
    // One attempt and its retry fail, so that an operator has to let the step go on.
    let flow = Shaky::new(2);
    let (calls, seen) = (flow.calls.clone(), Arc::clone(&flow.seen));
    let engine = errands(dex::testing::engine()).flow(flow).start().await.unwrap();
    let run = engine.client::<Shaky>().start("r", ()).await.unwrap();
    engine.settle().await;
    let child = engine.client::<Errand>().run(format!("{}/take-1/0", run.run_id())).await.unwrap();
    child.publish(Errand::GO, 7).await.unwrap();
    engine.advance(seconds(2)).await;
    assert_eq!(run.describe().await.unwrap().steps[0].phase, StepPhase::Parked);
    assert_eq!(calls.get(), 2);
    engine.restart().await.unwrap();
    run.retry_step("take-1").await.unwrap();
    assert_eq!(run.output().await.unwrap(), 7);
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
    assert_eq!(engine.dex().inspect().runs(None, 9).await.unwrap().len(), 2, "there is one child");
}

/// Waits for so many children that are done at once.
struct Many;

#[flow(output = u64)]
impl Many {
    #[wait_for(sum)]
    fn all(&self, _ctx: &WaitContext<Self>, count: &u64) -> WaitResult<Self, Vec<ChildResult<Errand>>> {
        Ok(Wait::all((0..*count).map(|number| SubFlow::run(Some(number))).collect::<Vec<_>>()))
    }

    #[step(start)]
    async fn sum(&self, _count: u64, all: Vec<ChildResult<Errand>>) -> StepResult<Self> {
        Ok(Next::complete(all.iter().filter_map(ChildResult::output).sum()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_that_are_done_at_once_freeze_no_parent() {
    let engine = errands(dex::testing::engine()).flow(Many).start().await.unwrap();
    let mut runs = Vec::new();
    for number in 0..200 {
        let count = if number % 10 == 0 { 100 } else { 1 };
        let run = engine.client::<Many>().start(format!("r{number}"), count).await.unwrap();
        runs.push((run, count * (count - 1) / 2));
    }
    for (run, expected) in runs {
        assert_eq!(run.output().await.unwrap(), expected);
    }
    // Nobody has anything left to tell anyone.
    engine.settle().await;
    engine.restart().await.unwrap();
    assert!(engine.dex().inspect().resident().await.unwrap().is_empty());
}

/// Gives its child more than a value may have.
struct TooMuch;

/// A child that takes a text.
struct Reader;

#[flow(output = usize)]
impl Reader {
    #[step(start)]
    async fn read(&self, text: String) -> StepResult<Self> {
        Ok(Next::complete(text.len()))
    }
}

#[flow(output = usize)]
impl TooMuch {
    #[wait_for(read)]
    fn reader(&self) -> WaitResult<Self, ChildResult<Reader>> {
        Ok(Wait::one(SubFlow::run("x".repeat(2 * 1024 * 1024))))
    }

    #[step(start)]
    async fn read(&self, _input: (), read: ChildResult<Reader>) -> StepResult<Self> {
        Ok(Next::complete(read.into_result()?))
    }
}

#[tokio::test]
async fn a_child_whose_input_is_over_the_limit_parks_its_parent_with_the_reason() {
    let engine = dex::testing::engine().flow(TooMuch).flow(Reader).start().await.unwrap();
    let run = engine.client::<TooMuch>().start("r", ()).await.unwrap();
    engine.settle().await;
    let info = run.describe().await.unwrap();
    assert_eq!(info.steps[0].phase, StepPhase::Parked);
    assert!(info.explain().contains("the limit is"), "{}", info.explain());
}

/// Leaves its child behind after a second.
struct Parent;

#[flow(output = ())]
impl Parent {
    #[wait_for(leave)]
    fn child_or_a_second(
        &self,
        _ctx: &WaitContext<Self>,
        policy: &u8,
    ) -> WaitResult<Self, OneOf2<ChildResult<Errand>, TimerFired>> {
        let policy = [ParentEnd::Leave, ParentEnd::Cancel, ParentEnd::Terminate][usize::from(*policy)];
        Ok(Wait::any((SubFlow::run(None).on_parent_end(policy), Timer::after(seconds(1)))))
    }

    #[step(start)]
    async fn leave(&self, _policy: u8, _got: OneOf2<ChildResult<Errand>, TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn a_parent_whose_children_go_on_can_be_started_again_and_says_whom_it_left() {
    for (policy, expected) in [(0, Status::Running), (1, Status::Canceled), (2, Status::Terminated)] {
        each_way_beside(
            IN_MEMORY,
            || Parent,
            errands,
            async |world| {
                let first = world.client().start("r", policy).await.unwrap();
                let child = format!("{}/leave-1/0", first.run_id());
                world.phase().await;
                world.advance(seconds(1)).await;
                world.phase().await;
                first.output().await.unwrap();
                let left = first.describe().await.unwrap().children;
                let left: Vec<_> = left.iter().map(|left| left.flow_id.as_str()).collect();
                let expected_left: &[&str] = if policy == 0 { &[&child] } else { &[] };
                assert_eq!(left, expected_left);

                let again = world.client().start("r", policy).reuse(Reuse::AllowIfClosed).await.unwrap();
                world.phase().await;
                world.advance(seconds(1)).await;
                again.output().await.unwrap();
                let child = world.dex().client::<Errand>().run(&child).await.unwrap();
                assert_eq!(child.describe().await.unwrap().status, expected);
            },
        )
        .await;
    }
}

/// Waits for a run of itself, which waits for ever.
struct Nest;

#[flow(output = String)]
impl Nest {
    #[channel]
    const NEVER: Channel<()>;

    #[step(start)]
    async fn begin(&self, outer: bool) -> StepResult<Self> {
        Ok(if outer { Next::to(Self::OUTER, ()) } else { Next::to(Self::INNER, ()) })
    }

    #[wait_for(outer)]
    fn child(&self) -> WaitResult<Self, ChildResult<Nest>> {
        Ok(Wait::one(SubFlow::run(false)))
    }

    #[step]
    async fn outer(&self, _input: (), child: ChildResult<Nest>) -> StepResult<Self> {
        Ok(Next::complete(child.end().to_string()))
    }

    #[wait_for(inner)]
    fn for_ever(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::NEVER.one()))
    }

    #[step]
    async fn inner(&self, _input: (), _never: ()) -> StepResult<Self> {
        Ok(Next::complete("never".into()))
    }
}

#[tokio::test]
async fn a_child_whose_history_cannot_be_read_can_be_ended_and_its_parent_hears_of_it() {
    let engine = dex::testing::engine().flow(Nest).start().await.unwrap();
    let run = engine.client::<Nest>().start("r", true).await.unwrap();
    engine.settle().await;
    let child_id = format!("{}/outer-1/0", run.run_id());
    let child = engine.client::<Nest>().run(&child_id).await.unwrap().run_id();
    let now = engine.now();
    let engine = spoiled(&engine, Nest, |store| Spoil::misfit().put(store, child, now)).await;
    engine.settle().await;
    let child = engine.client::<Nest>().run(&child_id).await.unwrap();
    assert_eq!(child.describe().await.unwrap_err().kind(), dex::ErrorKind::Quarantined);
    child.stop(dex::Stop::Terminate, "beyond repair").await.unwrap();
    let run = engine.client::<Nest>().run("r").await.unwrap();
    assert_eq!(run.output().await.unwrap(), "it was terminated: beyond repair");
}
