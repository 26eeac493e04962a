//! Starting runs: ids, inputs, and one run for one id whoever asks.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{ErrorKind, Status};
use support::{IN_MEMORY, each_way, engine};

/// Gives its input back after a message.
struct Echo;

#[flow(output = String)]
impl Echo {
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

/// Starts with nothing and completes with nothing.
struct Unit;

#[flow(output = ())]
impl Unit {
    #[step(start)]
    async fn only(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// Has no start step: an RPC starts one.
struct Called;

#[flow(output = u32)]
impl Called {
    #[step]
    async fn work(&self, input: u32) -> StepResult<Self> {
        Ok(Next::complete(input + 1))
    }

    #[rpc]
    async fn begin(&self, ctx: &mut RpcContext<Self>, input: u32) -> RpcResult<()> {
        ctx.start_step(Self::WORK, input)
    }
}

#[tokio::test]
async fn an_id_that_is_none_is_refused_at_every_door() {
    let t = engine(Echo).await;
    let long = "x".repeat(513);
    for id in ["", " ", "\t \n", "a\nb", "a\u{0}b", "\u{85}", "\u{3000}", long.as_str()] {
        let started = t.client::<Echo>().start(id, "in".into()).await;
        let started = started.err().unwrap_or_else(|| panic!("{id:?} was taken"));
        assert_eq!(started.kind(), ErrorKind::InvalidId, "{id:?}");
        let found = t.client::<Echo>().run(id).await;
        assert_eq!(found.err().unwrap().kind(), ErrorKind::InvalidId, "{id:?}");
    }
    assert_eq!(t.store().commits(), 0, "something was written");
}

#[tokio::test]
async fn any_printable_text_of_512_bytes_is_an_id() {
    let t = engine(Echo).await;
    for id in ["a/b c\"ä'\\{}%00", "\u{1f980}", &"é".repeat(256), "../../etc/passwd", "-", " a "] {
        let run = t.client::<Echo>().start(id, "in".into()).await.unwrap();
        run.publish(Echo::GO, ()).await.unwrap();
        assert_eq!(run.output().await.unwrap(), "in");
        assert_eq!(run.flow_id().as_str(), id);
        assert_eq!(t.client::<Echo>().run(id).await.unwrap().run_id(), run.run_id());
    }
}

#[tokio::test]
async fn an_id_that_has_a_run_is_refused_with_that_run() {
    each_way(
        IN_MEMORY,
        || Echo,
        async |t| {
            let run = t.client().start("r", "first".into()).await.unwrap();
            t.phase().await;
            let error = t.client().start("r", "second".into()).await.err().unwrap();
            assert!(error.is_already_started(), "{error:?}");
            assert_eq!(error.existing_run(), Some((run.run_id(), Status::Running)));

            let run = t.run().await;
            run.publish(Echo::GO, ()).await.unwrap();
            assert_eq!(run.output().await.unwrap(), "first");
            t.phase().await;
            let error = t.client().start("r", "third".into()).await.err().unwrap();
            assert_eq!(error.existing_run(), Some((run.run_id(), Status::Completed)));
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_starts_of_one_id_at_once_one_wins_and_the_others_learn_which() {
    let t = engine(Echo).await;
    for round in 0..20 {
        let id = format!("r{round}");
        let starts: Vec<_> = (0..64)
            .map(|n| {
                let (client, id) = (t.client::<Echo>(), id.clone());
                tokio::spawn(async move { client.start(id, n.to_string()).await })
            })
            .collect();
        let (mut won, mut lost) = (Vec::new(), Vec::new());
        for start in starts {
            match start.await.unwrap() {
                Ok(run) => won.push(run),
                Err(error) => lost.push(error),
            }
        }
        assert_eq!((won.len(), lost.len()), (1, 63));
        let run = won[0].run_id();
        for error in lost {
            assert_eq!(error.kind(), ErrorKind::AlreadyStarted);
            assert_eq!(error.existing_run().unwrap().0, run);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn starts_of_one_id_across_crashes_of_the_engine_still_make_one_run() {
    let t = dex::testing::engine().flow(Echo).crash_after_every_transition().start().await.unwrap();
    for round in 0..10 {
        let id = format!("r{round}");
        let starts: Vec<_> = (0..16)
            .map(|n| {
                let (client, id) = (t.client::<Echo>(), id.clone());
                tokio::spawn(async move { client.start(id, n.to_string()).await })
            })
            .collect();
        let mut won = 0;
        for start in starts {
            match start.await.unwrap() {
                Ok(_) => won += 1,
                Err(error) => assert_eq!(error.kind(), ErrorKind::AlreadyStarted, "{error:?}"),
            }
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test]
async fn a_flow_starts_with_nothing_and_completes_with_nothing() {
    each_way(
        IN_MEMORY,
        || Unit,
        async |t| {
            let run = t.client().start("r", ()).await.unwrap();
            run.output().await.unwrap();
            let result = run.result().await.unwrap();
            assert_eq!(result.outputs().unwrap(), [("only-1".to_owned(), ())]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_flow_without_a_start_step_stands_until_an_rpc_starts_one() {
    each_way(
        IN_MEMORY,
        || Called,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let info = run.describe().await.unwrap();
            assert_eq!((info.status, info.steps.len()), (Status::Running, 0));
            run.begin(41).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 42);
        },
    )
    .await;
}

#[tokio::test]
async fn an_id_of_another_flow_is_taken_and_is_not_found_as_ones_own() {
    let t = dex::testing::engine().flow(Echo).flow(Unit).start().await.unwrap();
    let run = t.client::<Echo>().start("r", "in".into()).await.unwrap();
    let error = t.client::<Unit>().run("r").await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::WrongFlow);
    let text = error.to_string();
    assert!(text.contains("Echo") && text.contains("Unit"), "{text}");
    let error = t.client::<Unit>().start("r", ()).await.err().unwrap();
    assert_eq!(error.existing_run().unwrap().0, run.run_id());
}

#[tokio::test]
async fn a_flow_that_is_not_registered_can_be_neither_started_nor_found() {
    let t = engine(Echo).await;
    let started = t.client::<Unit>().start("r", ()).await.err().unwrap();
    let found = t.client::<Unit>().run("r").await.err().unwrap();
    for error in [started, found, t.dex().flow::<Unit>().err().unwrap()] {
        assert_eq!(error.kind(), ErrorKind::UnknownFlow);
        assert!(error.to_string().contains("`Unit`"), "{error}");
    }
}

#[tokio::test]
async fn a_flow_that_is_registered_twice_is_refused() {
    let error = dex::testing::engine().flow(Unit).flow(Unit).start().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidSetup);
    assert!(error.to_string().contains("`Unit`"), "{error}");
}

#[tokio::test]
async fn an_id_that_never_was_is_not_found() {
    let t = engine(Echo).await;
    let error = t.client::<Echo>().run("nobody").await.err().unwrap();
    assert!(error.is_not_found(), "{error:?}");
    assert!(error.to_string().contains("`nobody`"), "{error}");
}
