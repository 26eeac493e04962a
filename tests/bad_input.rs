//! What cannot be: each is a typed error that names the thing, and nothing is lost, hangs or is tried for ever.
#![cfg(test)]

mod support;

use std::fs;
use std::path::Path;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::{Dex, Error, ErrorKind, Status};
use serde::{Deserialize, Serialize};
use support::{Counter, hours, seconds};
use tempfile::TempDir;

/// A flow that is not the one of the stored runs.
struct Other;

#[flow(output = ())]
impl Other {
    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// The first of several builds of one flow: it stores a text.
struct Before;

#[flow(output = String, name = "typed")]
impl Before {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, input: String) -> StepResult<Self> {
        Ok(Next::to(Self::END, input))
    }

    #[wait_for(end)]
    fn a_message(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn end(&self, input: String, _go: ()) -> StepResult<Self> {
        Ok(Next::complete(input))
    }
}

/// A later build reads a number there.
#[derive(Default)]
struct After {
    calls: Counter,
}

#[derive(Serialize, Deserialize)]
struct Number(u64);

#[flow(output = String, name = "typed")]
impl After {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, _input: String) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[wait_for(end)]
    fn a_message(&self) -> WaitResult<Self, ()> {
        self.calls.add();
        Ok(Wait::one(Self::GO.one()))
    }

    #[step(entry)]
    async fn end(&self, input: Number, _go: ()) -> StepResult<Self> {
        self.calls.add();
        Ok(Next::complete(input.0.to_string()))
    }
}

/// A build without the last step.
struct Without;

#[flow(output = String, name = "typed")]
impl Without {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, input: String) -> StepResult<Self> {
        Ok(Next::complete(input))
    }
}

async fn on_disk<F: Flow>(folder: &Path, flow: F) -> Result<dex::testing::TestEngine, Error> {
    dex::testing::engine_in(folder).flow(flow).start().await
}

#[tokio::test]
async fn a_stored_value_that_does_not_fit_a_new_build_parks_the_step_until_a_build_in_which_it_does() {
    let folder = TempDir::new().unwrap();
    let t = on_disk(folder.path(), Before).await.unwrap();
    t.client::<Before>().start("r", "text".into()).await.unwrap();
    t.settle().await;
    t.shutdown(seconds(1)).await.unwrap();

    let t = on_disk(folder.path(), After::default()).await.unwrap();
    let run = t.client::<After>().run("r").await.unwrap();
    run.publish(After::GO, ()).await.unwrap();
    t.advance(hours(10)).await;
    let info = run.describe().await.unwrap();
    assert!(info.explain().contains("end-1 is parked"), "{}", info.explain());
    assert!(info.explain().contains("Number"), "{}", info.explain());
    assert_eq!(t.flow::<After>().calls.get(), 0);
    // Asking again in the same build changes nothing, and is not an endless loop.
    run.retry_step("end-1").await.unwrap();
    t.advance(hours(10)).await;
    assert!(run.describe().await.unwrap().explain().contains("end-1 is parked"));
    t.shutdown(seconds(1)).await.unwrap();

    let t = on_disk(folder.path(), Before).await.unwrap();
    let run = t.client::<Before>().run("r").await.unwrap();
    run.retry_step("end-1").await.unwrap();
    assert_eq!(run.output().await.unwrap(), "text");
}

#[tokio::test]
async fn a_step_that_a_new_build_does_not_have_stands_until_a_build_that_has_it() {
    let folder = TempDir::new().unwrap();
    let t = on_disk(folder.path(), Before).await.unwrap();
    let run = t.client::<Before>().start("r", "text".into()).await.unwrap();
    t.settle().await;
    t.shutdown(seconds(1)).await.unwrap();
    drop(run);

    let t = on_disk(folder.path(), Without).await.unwrap();
    let run = t.client::<Without>().run("r").await.unwrap();
    run.publish(Without::GO, ()).await.unwrap();
    t.advance(hours(10)).await;
    let info = run.describe().await.unwrap();
    assert_eq!(info.status, Status::Running);
    assert_eq!((info.steps[0].id.as_str(), info.steps[0].phase), ("end-1", StepPhase::Missing));
    assert!(info.explain().contains("this build has no such step"), "{}", info.explain());
    let by_tool = t.dex().inspect().run(run.run_id()).await.unwrap().unwrap();
    assert_eq!(by_tool, info);
    // There is nothing to mend here that a repetition could profit from.
    assert!(run.retry_step("end-1").await.unwrap_err().is_not_found());
    // Others go on beside it.
    let other = t.client::<Without>().start("other", "fine".into()).await.unwrap();
    assert_eq!(other.output().await.unwrap(), "fine");
    t.shutdown(seconds(1)).await.unwrap();

    let t = on_disk(folder.path(), Before).await.unwrap();
    let run = t.client::<Before>().run("r").await.unwrap();
    assert_eq!(run.output().await.unwrap(), "text");
}

#[tokio::test]
async fn an_operator_goes_past_a_step_that_a_new_build_does_not_have() {
    let folder = TempDir::new().unwrap();
    let t = on_disk(folder.path(), Before).await.unwrap();
    for id in ["skipped", "redirected"] {
        t.client::<Before>().start(id, "text".into()).await.unwrap();
    }
    t.settle().await;
    t.shutdown(seconds(1)).await.unwrap();

    let t = on_disk(folder.path(), Without).await.unwrap();
    let (skipped, redirected) = (t.client::<Without>(), t.client::<Without>());
    let (skipped, redirected) =
        (skipped.run("skipped").await.unwrap(), redirected.run("redirected").await.unwrap());
    // While it waits it stands for another reason.
    assert!(skipped.skip_step("end-1").await.unwrap_err().is_not_found());
    for run in [&skipped, &redirected] {
        run.publish(Without::GO, ()).await.unwrap();
    }
    skipped.request_id("once").unwrap().skip_step("end-1").await.unwrap();
    skipped.request_id("once").unwrap().skip_step("end-1").await.unwrap();
    assert_eq!(skipped.describe().await.unwrap().steps, []);
    assert_eq!(skipped.messages(Without::GO).await.unwrap(), [()], "what it had taken is back");
    redirected.redirect_step("end-1", Without::BEGIN, "again".into()).await.unwrap();
    assert_eq!(redirected.output().await.unwrap(), "again");
    t.shutdown(seconds(1)).await.unwrap();
    // It is past for the build that has the step, too.
    let t = on_disk(folder.path(), Before).await.unwrap();
    assert_eq!(t.client::<Before>().run("skipped").await.unwrap().describe().await.unwrap().steps, []);
}

/// A build in which the last step has another name.
struct Renamed;

#[flow(output = String, name = "typed")]
impl Renamed {
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, input: String) -> StepResult<Self> {
        Ok(Next::to(Self::FINISH, input))
    }

    #[wait_for(finish)]
    fn a_message(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step(alias = "end")]
    async fn finish(&self, input: String, _go: ()) -> StepResult<Self> {
        Ok(Next::complete(format!("{input}, finished")))
    }

    #[rpc(alias = "give_up")]
    async fn skip(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.cancel_step(Self::FINISH);
        Ok(())
    }
}

#[tokio::test]
async fn a_renamed_step_with_its_old_name_as_alias_goes_on_with_stored_runs() {
    let folder = TempDir::new().unwrap();
    let t = on_disk(folder.path(), Before).await.unwrap();
    for id in ["r", "skipped"] {
        t.client::<Before>().start(id, "text".into()).await.unwrap();
    }
    t.settle().await;
    t.shutdown(seconds(1)).await.unwrap();

    let t = on_disk(folder.path(), Renamed).await.unwrap();
    let run = t.client::<Renamed>().run("r").await.unwrap();
    assert_eq!(run.describe().await.unwrap().steps[0].id, "end-1");
    run.publish(Renamed::GO, ()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "text, finished");
    // What is done to the step by its new name is done to what was stored by the old one.
    let skipped = t.dex().dynamic().run("skipped").await.unwrap();
    skipped.call("give_up", serde_json::Value::Null).await.unwrap();
    assert_eq!(skipped.describe().await.unwrap().steps.len(), 0);
}

#[tokio::test]
async fn a_flow_with_open_runs_that_is_not_registered_is_refused_by_name_and_run() {
    let folder = TempDir::new().unwrap();
    let t = on_disk(folder.path(), Before).await.unwrap();
    let run = t.client::<Before>().start("order-17", "text".into()).await.unwrap();
    t.shutdown(seconds(1)).await.unwrap();
    drop(run);

    let error = on_disk(folder.path(), Other).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UnknownFlow);
    let text = error.to_string();
    assert!(text.contains("`typed`") && text.contains("`order-17`"), "{text}");

    // Nothing has happened to the run; and once it is closed its flow may go.
    let t = on_disk(folder.path(), Before).await.unwrap();
    let run = t.client::<Before>().run("order-17").await.unwrap();
    run.publish(Before::GO, ()).await.unwrap();
    run.output().await.unwrap();
    t.shutdown(seconds(1)).await.unwrap();
    drop(run);
    on_disk(folder.path(), Other).await.unwrap();
}

async fn open(folder: &Path) -> ErrorKind {
    match Dex::open(folder).flow(Before).start().await {
        Ok(_) => panic!("{} was opened", folder.display()),
        Err(error) => {
            let text = error.to_string();
            let name = folder.file_name().unwrap().to_str().unwrap();
            assert!(text.contains(name), "{text} does not name {name}");
            error.kind()
        }
    }
}

#[tokio::test]
async fn a_folder_is_open_once_at_a_time() {
    let folder = TempDir::new().unwrap();
    let dex = Dex::open(folder.path()).flow(Before).start().await.unwrap();
    assert_eq!(open(folder.path()).await, ErrorKind::StoreInUse);
    // By whatever name.
    let other = folder.path().join("..").join(folder.path().file_name().unwrap());
    assert_eq!(open(&other).await, ErrorKind::StoreInUse);
    let run = dex.client::<Before>().start("r", "in".into()).await.unwrap();
    run.publish(Before::GO, ()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "in");
    dex.shutdown(seconds(1)).await.unwrap();
    Dex::open(folder.path()).flow(Before).start().await.unwrap();
}

#[tokio::test]
async fn what_is_not_a_store_is_refused_and_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a-file");
    fs::write(&file, "mine").unwrap();
    assert_eq!(open(&file).await, ErrorKind::ForeignStore);
    assert_eq!(open(folder.path()).await, ErrorKind::ForeignStore);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let entries: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(entries.len(), 1, "something was put into a folder that is not ours");
}

/// A store with a run in it.
async fn store() -> TempDir {
    let folder = TempDir::new().unwrap();
    let dex = Dex::open(folder.path()).flow(Before).start().await.unwrap();
    dex.client::<Before>().start("r", "in".into()).await.unwrap();
    dex.shutdown(seconds(1)).await.unwrap();
    folder
}

/// Copies the files of a folder and of those below it.
fn copy(from: &Path, to: &Path) {
    for name in files(from) {
        let target = to.join(&name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(from.join(&name), target).unwrap();
    }
}

#[tokio::test]
async fn a_store_that_lost_what_it_had_acknowledged_is_refused_until_it_is_repaired() {
    let folder = store().await;
    let (data, older) = (folder.path().join("data"), TempDir::new().unwrap());
    copy(&data, older.path());
    let dex = Dex::open(folder.path()).flow(Before).start().await.unwrap();
    dex.client::<Before>().start("later", "in".into()).await.unwrap();
    dex.shutdown(seconds(1)).await.unwrap();
    // Someone puts old data back, and leaves the note of how far the store had come.
    let watermark = fs::read(data.join("dex-watermark")).unwrap();
    fs::remove_dir_all(&data).unwrap();
    copy(older.path(), &data);
    fs::write(data.join("dex-watermark"), watermark).unwrap();
    assert_eq!(open(folder.path()).await, ErrorKind::DamagedStore);

    let report = Dex::repair(folder.path()).unwrap();
    assert!(report.lost.is_some(), "{report:?}");
    assert!(report.backup.exists());
    let dex = Dex::open(folder.path()).flow(Before).start().await.unwrap();
    let client = dex.client::<Before>();
    assert!(client.run("later").await.unwrap_err().is_not_found());
    let run = client.run("r").await.unwrap();
    run.publish(Before::GO, ()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "in");
    dex.shutdown(seconds(1)).await.unwrap();
    // A folder that is no store is not touched.
    let error = Dex::repair(older.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignStore);
}

#[tokio::test]
async fn a_store_of_a_later_format_is_refused() {
    let folder = store().await;
    let marker = folder.path().join("dex-store");
    let before = fs::read_to_string(&marker).unwrap();
    fs::write(&marker, before.replace("format 1", "format 2")).unwrap();
    assert_eq!(open(folder.path()).await, ErrorKind::NewerStore);
    fs::write(&marker, before).unwrap();
    Dex::open(folder.path()).flow(Before).start().await.unwrap();
}

#[tokio::test]
async fn a_store_whose_files_were_cut_or_removed_is_refused_or_whole() {
    let names = {
        let folder = store().await;
        files(folder.path())
    };
    assert!(names.len() > 3, "{names:?}");
    for (place, name) in names.into_iter().enumerate() {
        // Nothing of it, or a half.
        let keep = place % 2;
        let folder = store().await;
        let file = folder.path().join(&name);
        // Some names differ from one store to the next.
        let Ok(bytes) = fs::read(&file) else { continue };
        fs::write(&file, &bytes[..bytes.len() * keep / 2]).unwrap();
        match Dex::open(folder.path()).flow(Before).start().await {
            Err(error) => {
                let kind = error.kind();
                assert!(
                    matches!(kind, ErrorKind::DamagedStore | ErrorKind::ForeignStore),
                    "{name}: {error:?}"
                );
            }
            Ok(dex) => {
                let run = dex.client::<Before>().run("r").await;
                let run = run.unwrap_or_else(|error| panic!("cutting {name} lost the run: {error:?}"));
                run.publish(Before::GO, ()).await.unwrap();
                assert_eq!(run.output().await.unwrap(), "in");
                dex.shutdown(seconds(1)).await.unwrap();
            }
        }
    }
}

/// Paths of all files below `folder`, relative to it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}
