//! Children of children, and many of them.

use dex::prelude::*;
use dex::{Options, testing};

use crate::support::{ALL, IN_MEMORY, each_way, hours, seconds};

/// A binary tree of runs of one flow; completes with how many there are.
struct Tree;

#[flow(output = u64)]
impl Tree {
    #[step(start)]
    async fn grow(&self, height: u32) -> StepResult<Self> {
        Ok(if height == 0 { Next::complete(1) } else { Next::to(Self::JOIN, height) })
    }

    #[wait_for(join)]
    fn both(
        &self,
        _ctx: &WaitContext<Self>,
        height: &u32,
    ) -> WaitResult<Self, (ChildResult<Tree>, ChildResult<Tree>)> {
        Ok(Wait::all((SubFlow::run(height - 1), SubFlow::run(height - 1))))
    }

    #[step]
    async fn join(
        &self,
        _height: u32,
        (left, right): (ChildResult<Tree>, ChildResult<Tree>),
    ) -> StepResult<Self> {
        Ok(Next::complete(1 + left.into_result()? + right.into_result()?))
    }
}

#[tokio::test]
async fn a_flow_may_start_itself_and_its_children_may_have_children() {
    each_way(
        ALL,
        || Tree,
        async |world| {
            world.client().start("r", 3).await.unwrap();
            world.phase().await;
            assert_eq!(world.run().await.output().await.unwrap(), 15, "{:?}", world.way);
            assert_eq!(world.dex().inspect().runs(None, 100).await.unwrap().len(), 15);
        },
    )
    .await;
}

/// Many children that sleep.
struct Crowd;

#[flow(output = u64)]
impl Crowd {
    #[step(start)]
    async fn begin(&self, (count, sleep): (u64, bool)) -> StepResult<Self> {
        Ok(match count {
            0 if sleep => Next::to(Self::SLEEP, ()),
            0 => Next::complete(1),
            _ => Next::to(Self::GATHER, (count, sleep)),
        })
    }

    #[wait_for(sleep)]
    fn a_month(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(hours(24 * 30))))
    }

    #[step]
    async fn sleep(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(1))
    }

    #[wait_for(gather)]
    fn all(
        &self,
        _ctx: &WaitContext<Self>,
        (count, sleep): &(u64, bool),
    ) -> WaitResult<Self, Vec<ChildResult<Crowd>>> {
        Ok(Wait::all((0..*count).map(|_| SubFlow::run((0, *sleep))).collect::<Vec<_>>()))
    }

    #[step]
    async fn gather(&self, _input: (u64, bool), all: Vec<ChildResult<Crowd>>) -> StepResult<Self> {
        Ok(Next::complete(all.iter().filter_map(ChildResult::output).sum()))
    }
}

#[tokio::test]
async fn a_thousand_children_take_few_transitions_of_their_parent() {
    let engine = testing::engine().flow(Crowd).start().await.unwrap();
    let run = engine.client::<Crowd>().start("r", (1_000, false)).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 1_000);
    let info = run.describe().await.unwrap();
    // Their ends, a few notes of their starts, and its own steps.
    assert!((1_004..1_100).contains(&info.transitions), "{}", info.transitions);
}

#[tokio::test]
async fn a_parent_and_its_children_that_wait_for_a_month_are_not_in_memory() {
    let options = Options { idle_runs_max: 1, ..Options::default() };
    let engine = testing::engine().flow(Crowd).options(options).start().await.unwrap();
    let run = engine.client::<Crowd>().start("r", (100, true)).await.unwrap();
    engine.settle().await;
    assert!(engine.dex().inspect().resident().await.unwrap().len() <= 1);
    engine.restart().await.unwrap();
    engine.settle().await;
    assert!(engine.dex().inspect().resident().await.unwrap().is_empty());
    engine.advance(hours(24 * 30)).await;
    assert_eq!(run.output().timeout(seconds(60)).await.unwrap(), 100);
}

#[tokio::test]
async fn children_that_end_at_once_are_not_missed() {
    // In each way, since the end of a child races with the note of its start.
    each_way(
        IN_MEMORY,
        || Crowd,
        async |world| {
            let count = if world.way == crate::support::Way::Crashing { 30 } else { 100 };
            for round in 0..3 {
                let run = world.client().start(format!("r{round}"), (count, false)).await.unwrap();
                world.phase().await;
                assert_eq!(run.output().await.unwrap(), count);
            }
        },
    )
    .await;
}
