//! Rows 84, 85, 86 and 90: what a step is given of the runs that it waited for.

use dex::inspect::ChildPhase;
use dex::prelude::*;
use dex::testing::TestBuilder;
use dex::{RunId, Status};
use serde::{Deserialize, Serialize};

use crate::support::{ALL, IN_MEMORY, World, each_way_beside, seconds};

/// A child: adds two to its number, after so many seconds.
struct Adds;

#[flow(output = u64)]
impl Adds {
    #[step(start)]
    async fn begin(&self, (number, pause): (u64, u64)) -> StepResult<Self> {
        Ok(if pause == 0 { Next::complete(number + 2) } else { Next::to(Self::SLOWLY, (number, pause)) })
    }

    #[wait_for(slowly)]
    fn so_long(
        &self,
        _ctx: &WaitContext<Self>,
        (_number, pause): &(u64, u64),
    ) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(*pause))))
    }

    #[step]
    async fn slowly(&self, (number, _pause): (u64, u64), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(number + 2))
    }
}

/// What a [`Parent`] waits for.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Plan {
    /// All of these children.
    All(Vec<(u64, u64)>),
    /// This child, or no time at all.
    OrNothing((u64, u64)),
}

/// Completes with what it was given of its children.
struct Parent;

type Sums = Vec<ChildResult<Adds>>;

#[flow(output = Vec<(String, String)>)]
impl Parent {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, plan: Plan) -> StepResult<Self> {
        Ok(match plan {
            Plan::All(inputs) => Next::to(Self::ALL, inputs),
            Plan::OrNothing(input) => Next::to(Self::EITHER, input),
        })
    }

    #[wait_for(all)]
    fn every_one(&self, _ctx: &WaitContext<Self>, inputs: &Vec<(u64, u64)>) -> WaitResult<Self, Sums> {
        Ok(Wait::all(inputs.iter().copied().map(SubFlow::<Adds>::run).collect::<Vec<_>>()))
    }

    #[step]
    async fn all(&self, _inputs: Vec<(u64, u64)>, sums: Sums) -> StepResult<Self> {
        let told =
            sums.iter().map(|sum| (sum.id().to_string(), format!("{}, {:?}", sum.end(), sum.output())));
        Ok(Next::complete(told.collect()))
    }

    #[wait_for(either)]
    fn nothing_or_a_sum(
        &self,
        _ctx: &WaitContext<Self>,
        input: &(u64, u64),
    ) -> WaitResult<Self, OneOf2<TimerFired, ChildResult<Adds>>> {
        Ok(Wait::any((Timer::after(seconds(0)), SubFlow::run(*input))))
    }

    #[step]
    async fn either(
        &self,
        _input: (u64, u64),
        got: OneOf2<TimerFired, ChildResult<Adds>>,
    ) -> StepResult<Self> {
        Ok(match got {
            OneOf2::First(TimerFired) => Next::to(Self::STAY, ()),
            OneOf2::Second(sum) => Next::fail(format!("{} has ended", sum.id())),
        })
    }

    #[wait_for(stay)]
    fn told_to(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn stay(&self, _input: (), _go: ()) -> StepResult<Self> {
        Ok(Next::complete(Vec::new()))
    }
}

fn children(builder: TestBuilder) -> TestBuilder {
    builder.flow(Adds)
}

async fn each(ways: &[crate::support::Way], scenario: impl AsyncFn(&mut World<'_, Parent>)) {
    each_way_beside(ways, || Parent, children, scenario).await;
}

/// The run that the child with this number has in the wait of all.
async fn child_of(t: &World<'_, Parent>, number: usize) -> <Adds as Flow>::Run {
    let id = format!("{}/all-1/{number}", t.run().await.run_id());
    t.dex().client::<Adds>().run(id).await.unwrap()
}

/// Row 84
#[tokio::test]
async fn a_child_gives_its_id_its_status_and_its_output() {
    each(IN_MEMORY, async |t| {
        let run = t.client().start("r", Plan::All(vec![(4, 0)])).await.unwrap();
        let id = format!("{}/all-1/0", run.run_id());
        t.phase().await;
        let output = t.run().await.output().await.unwrap();
        assert_eq!(output, [(id, "it completed, Some(6)".to_owned())], "{:?}", t.way);
    })
    .await;
}

/// Row 85
#[tokio::test]
async fn the_results_of_all_children_come_in_their_order() {
    each(IN_MEMORY, async |t| {
        // The second one ends first.
        let run = t.client().start("r", Plan::All(vec![(4, 60), (14, 0)])).await.unwrap();
        let id = |number| format!("{}/all-1/{number}", run.run_id());
        let expected =
            [(id(0), "it completed, Some(6)".to_owned()), (id(1), "it completed, Some(16)".to_owned())];
        t.phase().await;
        t.advance(seconds(60)).await;
        t.phase().await;
        assert_eq!(t.run().await.output().await.unwrap(), expected, "{:?}", t.way);
    })
    .await;
}

/// Row 86
// A child that goes on is no result, but is told with its parent. Its parent leaves it alone unless it was told not to.
#[tokio::test]
async fn a_child_that_runs_on_is_told_as_running_and_can_be_canceled() {
    each(ALL, async |t| {
        t.client().start("r", Plan::OrNothing((4, 300))).await.unwrap();
        t.phase().await;
        t.advance(seconds(1)).await;
        let told = t.run().await.describe().await.unwrap().children;
        assert_eq!(told.iter().map(|child| child.phase).collect::<Vec<_>>(), [ChildPhase::Running]);
        let child = t.dex().client::<Adds>().run(told[0].flow_id.as_str()).await.unwrap();
        assert_eq!(Some(child.run_id()), told[0].run_id);
        child.cancel().await.unwrap();
        assert_eq!(child.result().await.unwrap().status(), Status::Canceled);
        t.phase().await;
        t.run().await.publish(Parent::GO, ()).await.unwrap();
        t.phase().await;
        assert_eq!(t.run().await.output().await.unwrap(), [], "{:?}", t.way);
    })
    .await;
}

/// Row 90
#[tokio::test]
async fn the_result_of_a_child_is_kept_until_the_others_have_ended() {
    each(ALL, async |t| {
        let phases = async |t: &World<'_, Parent>| -> Vec<ChildPhase> {
            let info = t.run().await.describe().await.unwrap();
            info.children.iter().map(|child| child.phase).collect()
        };
        t.client().start("r", Plan::All(vec![(4, 0), (14, 300)])).await.unwrap();
        t.phase().await;
        let quick: RunId = child_of(t, 0).await.run_id();
        for _ in 0..3 {
            assert_eq!(phases(t).await, [ChildPhase::Ended, ChildPhase::Running], "{:?}", t.way);
            t.phase().await;
        }
        child_of(t, 1).await.skip_timer("slowly-1").await.unwrap();
        t.phase().await;
        let output = t.run().await.output().await.unwrap();
        let told: Vec<_> = output.iter().map(|(_, told)| told.as_str()).collect();
        assert_eq!(told, ["it completed, Some(6)", "it completed, Some(16)"]);
        assert_eq!(child_of(t, 0).await.run_id(), quick, "it was not started again");
    })
    .await;
}
