//! What the step of a parent is given.

use dex::inspect::{ChildPhase, StepPhase};
use dex::{FailureKind, Status, Stop};

use crate::flows::{Parcel, Plan, Sender, Way, parcels};
use crate::support::{ALL, IN_MEMORY, each_way_beside, seconds};

/// What a sender with this plan completes with, in each way that the engine may run; nothing has to be done for it.
async fn gives(plan: Plan, expected: &str) {
    each_way_beside(
        IN_MEMORY,
        || Sender,
        parcels,
        async |world| {
            world.client().start("r", plan.clone()).await.unwrap();
            world.phase().await;
            assert_eq!(world.run().await.output().await.unwrap(), expected, "{:?}", world.way);
        },
    )
    .await;
}

#[tokio::test]
async fn a_step_is_given_the_ends_of_all_its_children_in_order() {
    let ways = vec![Way::Arrive(3), Way::OnGo(8), Way::Arrive(1)];
    each_way_beside(
        ALL,
        || Sender,
        parcels,
        async |world| {
            let run = world.client().start("r", Plan::All(ways.clone())).await.unwrap();
            let run_id = run.run_id();
            world.phase().await;
            let info = world.run().await.describe().await.unwrap();
            assert_eq!(
                info.children.iter().map(|child| child.phase).collect::<Vec<_>>(),
                [ChildPhase::Ended, ChildPhase::Running, ChildPhase::Ended,]
            );
            let waiting = format!("for child `{run_id}/all-1/1` (Running)");
            assert!(info.explain().ends_with(&waiting), "{}", info.explain());

            let child_id = format!("{run_id}/all-1/1");
            let child = world.dex().client::<Parcel>().run(&child_id).await.unwrap();
            let parent = child.describe().await.unwrap().parent.unwrap();
            assert_eq!((parent.flow_id.as_str(), parent.run_id), ("r", run_id));
            world.phase().await;
            let child = world.dex().client::<Parcel>().run(&child_id).await.unwrap();
            child.publish(Parcel::GO, ()).await.unwrap();
            world.phase().await;
            let output = world.run().await.output().await.unwrap();
            assert_eq!(output, "all-1/0: arrived as 6; all-1/1: arrived as 16; all-1/2: arrived as 2");
            assert_eq!(world.run().await.describe().await.unwrap().children, []);
        },
    )
    .await;
}

#[tokio::test]
async fn a_child_that_fails_does_not_fail_its_parent() {
    gives(Plan::All(vec![Way::Refuse]), "all-1/0: it failed: nobody is at home").await;
    let broken = "all-1/0: it failed: break_it-1: the parcel broke: invalid digit found in string";
    gives(Plan::All(vec![Way::Break]), broken).await;
}

#[tokio::test]
async fn a_child_with_several_outputs_gives_all_of_them() {
    gives(Plan::All(vec![Way::Twice]), "all-1/0: it completed with 2 outputs").await;
}

#[tokio::test]
async fn a_child_begins_with_the_attributes_and_the_time_it_is_given() {
    gives(Plan::Labelled(Way::Arrive(1)), "arrived as 102").await;
    each_way_beside(
        IN_MEMORY,
        || Sender,
        parcels,
        async |world| {
            world.client().start("r", Plan::Labelled(Way::Slow)).await.unwrap();
            world.phase().await;
            world.advance(seconds(10)).await;
            world.phase().await;
            assert_eq!(world.run().await.output().await.unwrap(), "it failed: its time was up");
        },
    )
    .await;
}

#[tokio::test]
async fn a_child_that_can_have_no_time_parks_its_parent() {
    each_way_beside(
        IN_MEMORY,
        || Sender,
        parcels,
        async |world| {
            world.client().start("r", Plan::NoTime).await.unwrap();
            world.phase().await;
            let info = world.run().await.describe().await.unwrap();
            assert_eq!(info.steps[0].phase, StepPhase::Parked);
            assert!(info.explain().contains("cannot end within 0ns"), "{}", info.explain());
        },
    )
    .await;
}

#[tokio::test]
async fn a_child_that_is_stopped_by_hand_says_how() {
    for (stop, expected) in [
        (Stop::Cancel, "it was canceled: enough"),
        (Stop::Terminate, "it was terminated: enough"),
        (Stop::Fail, "it failed: enough"),
    ] {
        each_way_beside(
            IN_MEMORY,
            || Sender,
            parcels,
            async |world| {
                let run = world.client().start("r", Plan::All(vec![Way::Slow])).await.unwrap();
                let child = format!("{}/all-1/0", run.run_id());
                world.phase().await;
                let child = world.dex().client::<Parcel>().run(child).await.unwrap();
                child.stop(stop, "enough").await.unwrap();
                world.phase().await;
                let output = world.run().await.output().await.unwrap();
                assert_eq!(output, format!("all-1/0: {expected}"));
            },
        )
        .await;
    }
}

#[tokio::test]
async fn an_output_taken_with_a_question_mark_fails_the_step_at_once() {
    gives(Plan::Strict(Way::Arrive(4)), "8").await;
    each_way_beside(
        IN_MEMORY,
        || Sender,
        parcels,
        async |world| {
            world.client().start("r", Plan::Strict(Way::Refuse)).await.unwrap();
            world.phase().await;
            let result = world.run().await.result().await.unwrap();
            assert_eq!(result.status(), Status::Failed);
            let dex::Closing::StepFailed { failure, .. } = result.closing() else { panic!("{result:?}") };
            assert_eq!(failure.kind, FailureKind::Fatal);
            assert!(failure.message.ends_with("gave no output: it failed: nobody is at home"), "{failure:?}");
        },
    )
    .await;
}

#[tokio::test]
async fn children_of_a_loop_have_an_id_each() {
    each_way_beside(
        ALL,
        || Sender,
        parcels,
        async |world| {
            let run = world.client().start("r", Plan::Loop(5)).await.unwrap();
            let run_id = run.run_id();
            world.phase().await;
            assert_eq!(world.run().await.output().await.unwrap(), "done");
            let seen = world.run().await.get(Sender::SEEN).await.unwrap().unwrap();
            let expected: Vec<_> = (1..=5).map(|n| format!("{run_id}/again-{n}/0")).collect();
            assert_eq!(seen, expected);
            let runs = world.dex().inspect().runs(None, 100).await.unwrap();
            assert_eq!(runs.len(), 6, "each child was started once");
        },
    )
    .await;
}
