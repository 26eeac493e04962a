//! Children that cannot be started, or whose result does not fit.

use dex::inspect::{RunSummary, StepPhase};
use dex::prelude::*;
use dex::{Options, Status, testing};

use crate::flows::{Parcel, Plan, Sender, Way, parcels};
use crate::support::{IN_MEMORY, World, each_way_beside};

#[tokio::test]
async fn a_flow_that_is_not_registered_parks_the_wait_until_a_build_has_it() {
    let store = {
        let engine = testing::engine().flow(Sender).start().await.unwrap();
        let run = engine.client::<Sender>().start("r", Plan::All(vec![Way::Arrive(1)])).await.unwrap();
        engine.settle().await;
        let info = run.describe().await.unwrap();
        assert_eq!(info.steps[0].phase, StepPhase::Parked);
        let why = "sub-flow `Parcel` is not registered: add `.flow(..)` with its value at `open`";
        assert!(info.explain().contains(why), "{}", info.explain());
        let store = engine.store();
        engine.shutdown(std::time::Duration::ZERO).await.unwrap();
        store
    };
    let engine = testing::engine_on(store.reopen()).flow(Sender).flow(Parcel).start().await.unwrap();
    let run = engine.client::<Sender>().run("r").await.unwrap();
    run.retry_step("all-1").await.unwrap();
    assert_eq!(run.output().await.unwrap(), "all-1/0: arrived as 2");
}

#[tokio::test]
async fn an_id_that_something_else_has_is_told_to_the_step() {
    each_way_beside(
        IN_MEMORY,
        || Sender,
        parcels,
        async |world| {
            let run = world.client().start("r", Plan::Later).await.unwrap();
            let taken = format!("{}/all-1/0", run.run_id());
            world.phase().await;
            world.dex().client::<Parcel>().start(&taken, Way::Slow).await.unwrap();
            world.run().await.publish(Sender::READY, ()).await.unwrap();
            world.phase().await;
            let output = world.run().await.output().await.unwrap();
            assert!(output.starts_with("all-1/0: it was not started: `"), "{output}");
            assert!(output.contains("was already started as run"), "{output}");
            // The other run is none of the parent's business.
            let other = world.dex().client::<Parcel>().run(&taken).await.unwrap();
            assert_eq!(other.describe().await.unwrap().status, Status::Running);
            assert_eq!(other.describe().await.unwrap().parent, None);
        },
    )
    .await;
}

/// The same flow as its parent's build knows it.
struct OtherParcel;

#[flow(name = "Parcel", output = Vec<String>)]
impl OtherParcel {
    #[step(start)]
    async fn send(&self, _way: Way) -> StepResult<Self> {
        Ok(Next::complete(Vec::new()))
    }
}

/// Waits for a parcel of another kind than there is.
struct Mistaken;

#[flow(output = usize)]
impl Mistaken {
    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::LOOK, ()))
    }

    #[wait_for(look)]
    fn parcel(&self) -> WaitResult<Self, ChildResult<OtherParcel>> {
        Ok(Wait::one(SubFlow::run(Way::Arrive(1))))
    }

    #[step]
    async fn look(&self, _input: (), parcel: ChildResult<OtherParcel>) -> StepResult<Self> {
        Ok(Next::complete(parcel.into_result()?.len()))
    }
}

#[tokio::test]
async fn an_output_of_another_type_parks_the_step() {
    each_way_beside(
        IN_MEMORY,
        || Mistaken,
        parcels,
        async |world| {
            world.client().start("r", ()).await.unwrap();
            world.phase().await;
            let info = world.run().await.describe().await.unwrap();
            assert_eq!(info.steps[0].phase, StepPhase::Parked, "{}", info.explain());
            assert!(info.explain().contains("the outcome of the wait"), "{}", info.explain());
        },
    )
    .await;
}

#[tokio::test]
async fn more_children_than_a_run_may_have_park_the_wait() {
    let mut options = Options::default();
    options.limits.children_max = 2;
    let world = World::with(crate::support::Way::Straight, &|| Sender, &parcels, options).await;
    let ways = vec![Way::Slow, Way::Slow, Way::Slow];
    let run = world.client().start("r", Plan::All(ways)).await.unwrap();
    world.settle().await;
    let info = run.describe().await.unwrap();
    assert_eq!(info.steps[0].phase, StepPhase::Parked);
    assert!(info.explain().contains("would have 3 children at once, the limit is 2"), "{}", info.explain());
    let runs: Vec<RunSummary> = world.dex().inspect().runs(None, 9).await.unwrap();
    assert_eq!(runs.len(), 1, "none of them was started");
}
