//! Attributes and channels that were renamed: stored runs go on under the new names.
#![cfg(test)]

mod support;

use std::path::Path;

use dex::prelude::*;
use dex::testing::{self, TestEngine};
use dex::{ErrorKind, Flow};
use serde_json::json;
use support::seconds;
use tempfile::TempDir;

/// How the flow was written at first.
struct Before;

#[flow(output = String, name = "shop")]
impl Before {
    #[attribute]
    const STATE: Attribute<String>;
    #[attribute]
    const GRADES: AttributeMap<String, u8>;
    #[channel]
    const GO: Channel<String>;
    #[channel]
    const PARCELS: ChannelMap<u8, String>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()).and(Self::FINISH, ()).and(Self::FINISH, ()))
    }

    #[wait_for(take)]
    fn a_parcel(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::PARCELS.at(&1).one()))
    }

    /// Holds its message, and the lock, until somebody mends it.
    #[step(retry(attempts = 1), on_exhausted = park, lock(STATE))]
    async fn take(&self, _input: (), parcel: String) -> StepResult<Self> {
        Err(StepError::new(format!("{parcel} is stuck")))
    }

    #[wait_for(finish)]
    fn go(&self) -> WaitResult<Self, Vec<String>> {
        Ok(Wait::one(Self::GO.n(2)))
    }

    #[step(lock(STATE))]
    async fn finish(&self, _input: (), go: Vec<String>) -> StepResult<Self> {
        Ok(Next::complete(go.join("+")))
    }
}

/// The same flow with other names.
struct After;

#[flow(output = String, name = "shop")]
impl After {
    #[attribute(alias = "STATE")]
    const STATUS: Attribute<String>;
    #[attribute(alias = "GRADES")]
    const SCORES: AttributeMap<String, u8>;
    #[channel(alias = "GO")]
    const START: Channel<String>;
    #[channel(name = "boxes", alias = "PARCELS")]
    const BOXES: ChannelMap<u8, String>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()).and(Self::FINISH, ()).and(Self::FINISH, ()))
    }

    #[wait_for(take)]
    fn a_box(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::BOXES.at(&1).one()))
    }

    #[step(retry(attempts = 1), on_exhausted = park, lock(STATUS))]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), taken: String) -> StepResult<Self> {
        ctx.set(Self::STATUS, format!("{taken} is out"))?;
        Ok(Next::dead_end())
    }

    #[wait_for(finish)]
    fn go(&self) -> WaitResult<Self, Vec<String>> {
        Ok(Wait::one(Self::START.n(2)))
    }

    #[step(lock(STATUS))]
    async fn finish(&self, ctx: &mut StepContext<Self>, _input: (), go: Vec<String>) -> StepResult<Self> {
        let status = ctx.get(Self::STATUS)?.unwrap_or_default();
        ctx.set(Self::STATUS, format!("{status}, {}", go.join("+")))?;
        Ok(Next::complete(go.join("+")))
    }

    #[rpc(lock(STATUS))]
    async fn look(&self, ctx: &mut RpcContext<Self>) -> RpcResult<Vec<(String, u8)>> {
        ctx.set(Self::SCORES.at("eve"), 1)?;
        ctx.entries(Self::SCORES)
    }
}

async fn on_disk<F: Flow>(folder: &Path, flow: F) -> TestEngine {
    testing::engine_in(folder).flow(flow).start().await.unwrap()
}

/// Bytes after which a run's snapshot is written.
const SNAPSHOT_BYTES: usize = 64 * 1024;

/// A run of the flow as it was, with values, messages, a wait, a message that a step holds, and a lock.
async fn a_stored_run(folder: &Path, with_snapshot: bool) {
    let t = on_disk(folder, Before).await;
    let run = t.client::<Before>().start("r", ()).with(Before::STATE, "new".into()).await.unwrap();
    if with_snapshot {
        run.set(Before::STATE, "x".repeat(SNAPSHOT_BYTES)).await.unwrap();
    }
    run.publish(Before::PARCELS.at(&1), "a book".into()).await.unwrap();
    run.publish(Before::PARCELS.at(&2), "a lamp".into()).await.unwrap();
    run.set(Before::GRADES.at("ada"), 1).await.unwrap();
    run.publish(Before::GO, "one".into()).await.unwrap();
    t.settle().await;
    if with_snapshot {
        // The snapshot has all of it in it, and the events after it are few.
        run.set(Before::STATE, "y".repeat(2 * SNAPSHOT_BYTES)).await.unwrap();
    }
    run.set(Before::STATE, "stored".into()).await.unwrap();
    run.set(Before::GRADES.at("bob"), 2).await.unwrap();
    t.settle().await;
    t.shutdown(seconds(1)).await.unwrap();
}

async fn goes_on(folder: &Path) {
    let t = on_disk(folder, After).await;
    let run = t.client::<After>().run("r").await.unwrap();
    assert_eq!(run.get(After::STATUS).await.unwrap().as_deref(), Some("stored"));
    assert_eq!(run.keys(After::SCORES).await.unwrap(), ["ada", "bob"]);
    assert_eq!(run.messages(After::START).await.unwrap(), ["one"]);
    assert_eq!(run.messages(After::BOXES.at(&2)).await.unwrap(), ["a lamp"]);
    let channels: Vec<_> =
        run.describe().await.unwrap().channels.into_iter().map(|known| known.name).collect();
    assert_eq!(channels, ["START", "boxes[1]", "boxes[2]"], "nobody sees the old names");

    // The parked step holds the lock under its new name.
    assert_eq!(run.look().await.unwrap_err().kind(), ErrorKind::Locked);
    run.retry_step("take-1").await.unwrap();
    t.settle().await;
    assert_eq!(run.get(After::STATUS).await.unwrap().as_deref(), Some("a book is out"));
    assert_eq!(run.look().await.unwrap(), [("ada".into(), 1), ("bob".into(), 2), ("eve".into(), 1)]);

    // The wait that was stored under the old name takes what comes under the new one, also after another restart.
    run.publish(After::START, "two".into()).await.unwrap();
    t.settle().await;
    assert_eq!(run.get(After::STATUS).await.unwrap().as_deref(), Some("a book is out, one+two"));
    t.shutdown(seconds(1)).await.unwrap();
    drop(run);

    let t = on_disk(folder, After).await;
    let run = t.client::<After>().run("r").await.unwrap();
    assert_eq!(run.get(After::STATUS).await.unwrap().as_deref(), Some("a book is out, one+two"));
    // Tools find both by either name.
    let dynamic = t.dex().dynamic().run("r").await.unwrap();
    for name in ["STATE", "STATUS"] {
        assert_eq!(dynamic.get(name).await.unwrap(), Some(json!("a book is out, one+two")), "{name}");
    }
    dynamic.set(("GRADES", "cy"), json!(3)).await.unwrap();
    assert_eq!(dynamic.get(("SCORES", "cy")).await.unwrap(), Some(json!(3)));
    dynamic.publish("GO", json!("three")).await.unwrap();
    dynamic.publish("START", json!("four")).await.unwrap();
    let outputs = run.result().await.unwrap().outputs().unwrap().into_iter().map(|(_, output)| output);
    assert_eq!(outputs.collect::<Vec<_>>(), ["one+two", "three+four"]);
    assert_eq!(dynamic.messages(("PARCELS", "2")).await.unwrap(), [json!("a lamp")]);
    assert_eq!(run.get(After::SCORES.at("cy")).await.unwrap(), Some(3), "also of a run that has ended");
    t.shutdown(seconds(1)).await.unwrap();
}

#[tokio::test]
async fn a_stored_run_goes_on_under_the_new_names() {
    let folder = TempDir::new().unwrap();
    a_stored_run(folder.path(), false).await;
    goes_on(folder.path()).await;
}

#[tokio::test]
async fn a_stored_run_with_a_snapshot_goes_on_under_the_new_names() {
    let folder = TempDir::new().unwrap();
    a_stored_run(folder.path(), true).await;
    goes_on(folder.path()).await;
}

#[tokio::test]
async fn without_the_alias_the_old_name_is_another_attribute() {
    struct Renamed;

    #[flow(output = String, name = "shop")]
    impl Renamed {
        #[attribute]
        const STATUS: Attribute<String>;

        #[step(start)]
        async fn begin(&self) -> StepResult<Self> {
            Ok(Next::dead_end())
        }

        #[step(entry, alias = "finish")]
        async fn take(&self) -> StepResult<Self> {
            Ok(Next::complete(String::new()))
        }
    }

    let folder = TempDir::new().unwrap();
    a_stored_run(folder.path(), false).await;
    let t = on_disk(folder.path(), Renamed).await;
    let run = t.client::<Renamed>().run("r").await.unwrap();
    assert_eq!(run.get(Renamed::STATUS).await.unwrap(), None);
    // Nothing is lost: the values are there for a build that knows them.
    let all = t.dex().dynamic().run("r").await.unwrap().attributes().await.unwrap();
    assert_eq!(all["STATE"], json!("stored"));
}
