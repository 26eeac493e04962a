//! Commits that fail while runs have to do with one another.

use dex::testing::{self, FailAt};

use crate::flows::{Parcel, Plan, Sender, Way};
use crate::support::seconds;

#[tokio::test]
async fn every_commit_may_fail_in_turn_and_parent_and_children_end_alike() {
    for at in [FailAt::BeforeWriting, FailAt::AfterWriting] {
        for nth in 1..16 {
            let t = testing::engine().flow(Sender).flow(Parcel).start().await.unwrap();
            let run = t.client::<Sender>();
            let run =
                run.start("r", Plan::All(vec![Way::Arrive(1), Way::Refuse, Way::Arrive(2)])).await.unwrap();
            t.store().fail_commit(nth, at);
            t.settle().await;
            t.advance(seconds(5)).await;
            let expected =
                "all-1/0: arrived as 2; all-1/1: it failed: nobody is at home; all-1/2: arrived as 4";
            assert_eq!(run.output().await.unwrap(), expected, "{at:?} at commit {nth}");
            t.settle().await;
            t.restart().await.unwrap();
            t.settle().await;
            assert_eq!(t.dex().inspect().runs(None, 9).await.unwrap().len(), 4, "{at:?} at commit {nth}");
            assert!(t.dex().inspect().resident().await.unwrap().is_empty(), "somebody was not told");
        }
    }
}

#[tokio::test]
async fn every_commit_may_fail_in_turn_and_a_parent_that_ends_stops_its_children() {
    for at in [FailAt::BeforeWriting, FailAt::AfterWriting] {
        for nth in 1..6 {
            let t = testing::engine().flow(Sender).flow(Parcel).start().await.unwrap();
            let run = t.client::<Sender>().start("r", Plan::OrAMinute(Way::Slow, 1)).await.unwrap();
            t.settle().await;
            t.store().fail_commit(nth, at);
            t.advance(seconds(70)).await;
            assert_eq!(run.output().await.unwrap(), "too late");
            t.settle().await;
            let child = format!("{}/either-1/0", run.run_id());
            let child = t.client::<Parcel>().run(child).await.unwrap();
            let status = child.describe().await.unwrap().status;
            assert_eq!(status, dex::Status::Canceled, "{at:?} at commit {nth}");
        }
    }
}
