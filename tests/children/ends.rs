//! The end of a parent, and what becomes of its children.

use dex::{Reuse, Status};

use crate::flows::{Parcel, Plan, Sender, Way, parcels, told};
use crate::support::{ALL, IN_MEMORY, World, each_way_beside, seconds};

/// The status of the first child of run `r`.
async fn child_status(world: &World<'_, Sender>, child: &str) -> Status {
    let run = world.dex().client::<Parcel>().run(child).await.unwrap();
    run.describe().await.unwrap().status
}

#[tokio::test]
async fn losing_against_a_timer_does_not_stop_a_child() {
    each_way_beside(
        ALL,
        || Sender,
        parcels,
        async |world| {
            let run = world.client().start("r", Plan::OrAMinute(Way::OnGo(1), 0)).await.unwrap();
            let child = format!("{}/either-1/0", run.run_id());
            world.phase().await;
            world.advance(seconds(60)).await;
            world.phase().await;
            assert_eq!(world.run().await.output().await.unwrap(), "too late");
            assert_eq!(child_status(world, &child).await, Status::Running);
            // The parent still says whom it left behind.
            let left = world.run().await.describe().await.unwrap().children;
            assert_eq!(left.iter().map(|left| left.flow_id.as_str()).collect::<Vec<_>>(), [child.as_str()]);

            let run = world.dex().client::<Parcel>().run(&child).await.unwrap();
            run.publish(Parcel::GO, ()).await.unwrap();
            world.phase().await;
            let run = world.dex().client::<Parcel>().run(&child).await.unwrap();
            assert_eq!(run.output().await.unwrap(), 2);
        },
    )
    .await;
}

#[tokio::test]
async fn a_parent_that_completes_does_with_its_children_what_they_say() {
    for (policy, expected) in [(0, Status::Running), (1, Status::Canceled), (2, Status::Terminated)] {
        each_way_beside(
            ALL,
            || Sender,
            parcels,
            async |world| {
                let run = world.client().start("r", Plan::OrAMinute(Way::Slow, policy)).await.unwrap();
                let child = format!("{}/either-1/0", run.run_id());
                world.phase().await;
                assert_eq!(child_status(world, &child).await, Status::Running);
                world.advance(seconds(60)).await;
                world.phase().await;
                assert_eq!(world.run().await.output().await.unwrap(), "too late");
                assert_eq!(child_status(world, &child).await, expected, "{:?}", world.way);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn a_parent_that_is_stopped_does_with_its_children_what_they_say() {
    for (policy, expected) in [(0, Status::Running), (1, Status::Canceled), (2, Status::Terminated)] {
        for cancel in [true, false] {
            each_way_beside(
                IN_MEMORY,
                || Sender,
                parcels,
                async |world| {
                    let run = world.client().start("r", Plan::OrAMinute(Way::Slow, policy)).await.unwrap();
                    let child = format!("{}/either-1/0", run.run_id());
                    world.phase().await;
                    let run = world.run().await;
                    if cancel {
                        run.cancel().await.unwrap();
                    } else {
                        run.terminate().await.unwrap();
                    }
                    world.phase().await;
                    assert_eq!(child_status(world, &child).await, expected);
                },
            )
            .await;
        }
    }
}

#[tokio::test]
async fn a_parent_that_is_replaced_does_not_leave_its_child_to_its_successor() {
    each_way_beside(
        IN_MEMORY,
        || Sender,
        parcels,
        async |world| {
            let plan = Plan::OrAMinute(Way::OnGo(1), 2);
            let first = world.client().start("r", plan.clone()).await.unwrap().run_id();
            world.phase().await;
            let second = world.client().start("r", plan).reuse(Reuse::TerminateIfRunning).await.unwrap();
            let second = second.run_id();
            world.phase().await;
            assert_ne!(first, second);
            assert_eq!(child_status(world, &format!("{first}/either-1/0")).await, Status::Terminated);
            assert_eq!(child_status(world, &format!("{second}/either-1/0")).await, Status::Running);
            assert_eq!(world.run().await.describe().await.unwrap().status, Status::Running);
        },
    )
    .await;
}

#[tokio::test]
async fn a_paused_parent_hears_of_its_child_and_goes_on_when_it_is_resumed() {
    each_way_beside(
        IN_MEMORY,
        || Sender,
        parcels,
        async |world| {
            let run = world.client().start("r", Plan::All(vec![Way::OnGo(1)])).await.unwrap();
            let child = format!("{}/all-1/0", run.run_id());
            world.phase().await;
            world.run().await.pause().await.unwrap();
            world.phase().await;
            let run = world.dex().client::<Parcel>().run(&child).await.unwrap();
            run.publish(Parcel::GO, ()).await.unwrap();
            world.phase().await;
            assert_eq!(world.run().await.describe().await.unwrap().status, Status::Paused);
            world.run().await.resume().await.unwrap();
            world.phase().await;
            assert_eq!(world.run().await.output().await.unwrap(), "all-1/0: arrived as 2");
        },
    )
    .await;
}

#[test]
fn how_a_child_ended_reads_back_when_it_was_stored() {
    let stored = r#"{"id":"a/b-1/0","run":null,"end":{"not_started":{"reason":"taken"}}}"#;
    let result: dex::ChildResult<Parcel> = serde_json::from_str(stored).unwrap();
    assert_eq!(told(&result), "it was not started: taken");
    assert_eq!((result.run_id(), result.output(), result.is_completed()), (None, None, false));
    assert_eq!(serde_json::to_string(&result).unwrap(), stored);
    assert_eq!(
        result.into_result().unwrap_err().to_string(),
        "sub-flow `a/b-1/0` gave no output: it was not started: taken"
    );
    for damaged in [
        "{}",
        r#"{"id":"","run":null,"end":{"canceled":{"reason":null}}}"#,
        r#"{"id":"a","run":"x","end":{"canceled":{"reason":null}}}"#,
    ] {
        serde_json::from_str::<dex::ChildResult<Parcel>>(damaged).unwrap_err();
    }
}
