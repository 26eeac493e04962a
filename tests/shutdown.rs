//! Shutting down: what runs may end, what is left goes on later, and everyone is told.
#![cfg(test)]

mod support;

use std::time::Duration;

use dex::prelude::*;
use dex::{Dex, ErrorKind, Status};
use support::{Counter, engine, seconds};
use tokio::sync::watch;

/// Works until it is let go.
struct Work {
    begun: Counter,
    ended: Counter,
    go: watch::Sender<bool>,
}

fn work() -> Work {
    Work { begun: Counter::default(), ended: Counter::default(), go: watch::Sender::new(false) }
}

#[flow(output = String)]
impl Work {
    #[step(start)]
    async fn first(&self, input: String) -> StepResult<Self> {
        self.begun.add();
        let _ = self.go.subscribe().wait_for(|go| *go).await;
        self.ended.add();
        Ok(Next::to(Self::SECOND, input))
    }

    #[step]
    async fn second(&self, input: String) -> StepResult<Self> {
        Ok(Next::complete(input))
    }

    #[rpc]
    async fn ping(&self, _ctx: &RpcContext<Self>) -> RpcResult<()> {
        Ok(())
    }

    #[rpc]
    async fn touch(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.start_step(Self::SECOND, "touched".into())
    }
}

#[tokio::test]
async fn a_handler_that_ends_within_the_grace_counts() {
    let folder = tempfile::tempdir().unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(work()).start().await.unwrap();
    let flow = t.flow::<Work>();
    t.client::<Work>().start("r", "in".into()).await.unwrap();
    t.settle().await;
    assert_eq!(flow.begun.get(), 1);
    let shutdown = tokio::spawn({
        let t = t.clone();
        async move { t.shutdown(seconds(5)).await }
    });
    tokio::task::yield_now().await;
    assert!(!shutdown.is_finished());
    flow.go.send_replace(true);
    shutdown.await.unwrap().unwrap();
    assert_eq!(flow.ended.get(), 1);

    let t = dex::testing::engine_in(folder.path()).flow(work()).start().await.unwrap();
    let run = t.client::<Work>().run("r").await.unwrap();
    assert_eq!(run.output().await.unwrap(), "in");
    assert_eq!(t.flow::<Work>().begun.get(), 0, "what was done was done again");
}

#[tokio::test]
async fn a_handler_that_never_ends_is_left_behind_after_the_grace_and_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let dex = Dex::open(folder.path()).flow(work()).start().await.unwrap();
    let flow = dex.flow::<Work>().unwrap();
    dex.client::<Work>().start("r", "in".into()).await.unwrap();
    while flow.begun.get() == 0 {
        tokio::task::yield_now().await;
    }
    let begun = std::time::Instant::now();
    dex.shutdown(Duration::from_millis(50)).await.unwrap();
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(50) && took < seconds(2), "{took:?}");
    assert_eq!(flow.ended.get(), 0);

    let again = work();
    again.go.send_replace(true);
    let dex = Dex::open(folder.path()).flow(again).start().await.unwrap();
    let run = dex.client::<Work>().run("r").await.unwrap();
    assert_eq!(run.output().await.unwrap(), "in");
    dex.shutdown(seconds(5)).await.unwrap();
}

#[tokio::test]
async fn an_engine_with_nothing_to_do_shuts_down_at_once_and_may_be_told_twice() {
    let t = engine(work()).await;
    // The clock stands still, so any wait would be for ever.
    t.shutdown(seconds(3600)).await.unwrap();
    t.shutdown(seconds(3600)).await.unwrap();
    t.dex().clone().shutdown(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn calls_after_a_shutdown_are_told_so() {
    let t = engine(work()).await;
    t.flow::<Work>().go.send_replace(true);
    let run = t.client::<Work>().start("r", "in".into()).await.unwrap();
    run.output().await.unwrap();
    t.shutdown(Duration::ZERO).await.unwrap();
    let client = t.client::<Work>();
    let errors = [
        client.start("s", "in".into()).await.err(),
        client.run("r").await.err(),
        run.describe().await.err(),
        run.output().await.err(),
        run.result().await.err(),
        run.ping().await.err(),
        run.touch().await.err(),
        run.cancel().await.err(),
        run.retry_step("first-1").await.err(),
    ];
    for (place, error) in errors.into_iter().enumerate() {
        let error = error.unwrap_or_else(|| panic!("call {place} was answered"));
        assert_eq!(error.kind(), ErrorKind::ShutDown, "call {place}: {error:?}");
    }
}

#[tokio::test]
async fn who_waits_for_a_run_is_told_of_the_shutdown() {
    let t = engine(work()).await;
    let run = t.client::<Work>().start("r", "in".into()).await.unwrap();
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let run = run.clone();
            tokio::spawn(async move { run.output().await.err().unwrap().kind() })
        })
        .collect();
    t.settle().await;
    t.shutdown(Duration::ZERO).await.unwrap();
    for waiting in waiting {
        assert_eq!(waiting.await.unwrap(), ErrorKind::ShutDown);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_that_meet_a_shutdown_are_answered_and_what_was_accepted_is_kept() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let flow = work();
        flow.go.send_replace(true);
        let t = dex::testing::engine_in(folder.path()).flow(flow).start().await.unwrap();
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let client = t.client::<Work>();
                tokio::spawn(async move {
                    let mut accepted = Vec::new();
                    for number in 0.. {
                        let id = format!("{caller}-{number}");
                        match client.start(&id, id.clone()).await {
                            Ok(_) => accepted.push(id),
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::ShutDown, "{error:?}");
                                return accepted;
                            }
                        }
                    }
                    unreachable!("the numbers do not end")
                })
            })
            .collect();
        tokio::task::yield_now().await;
        t.shutdown(Duration::ZERO).await.unwrap();
        let mut accepted = Vec::new();
        for caller in callers {
            accepted.extend(caller.await.unwrap());
        }
        let flow = work();
        flow.go.send_replace(true);
        let t = dex::testing::engine_in(folder.path()).flow(flow).start().await.unwrap();
        for id in accepted {
            let run = t.client::<Work>().run(&id).await.unwrap();
            assert_eq!(run.output().await.unwrap(), id);
        }
    }
}

#[test]
fn a_runtime_that_is_dropped_without_a_shutdown_lets_the_folder_go() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let dex = Dex::open(folder.path()).flow(work()).start().await.unwrap();
            let run = match round {
                0 => dex.client::<Work>().start("r", "in".into()).await.unwrap(),
                _ => dex.client::<Work>().run("r").await.unwrap(),
            };
            assert_eq!(run.describe().await.unwrap().status, Status::Running);
        });
        drop(runtime);
    }
}

/// Runs whose steps end together.
struct Meet(tokio::sync::Barrier);

#[flow]
impl Meet {
    #[step(start)]
    async fn meet(&self) -> StepResult<Self> {
        self.0.wait().await;
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn tasks_rest_for_the_next_calls_up_to_a_bound_and_are_gone_after_a_shutdown() {
    const CALLS: usize = 400;
    /// Tasks that rest, and those of an engine that does nothing.
    const LEFT_MAX: usize = 256 + 16;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let dex = Dex::in_memory().flow(Meet(tokio::sync::Barrier::new(CALLS))).start().await.unwrap();
    let client = dex.client::<Meet>();
    let mut runs = Vec::new();
    for n in 0..CALLS {
        runs.push(client.start(format!("r-{n}"), ()).await.unwrap());
    }
    for run in runs {
        run.output().await.unwrap();
    }
    while tasks() > before + LEFT_MAX {
        tokio::task::yield_now().await;
    }
    assert!(tasks() > before + 100, "none rests");
    dex.shutdown(seconds(5)).await.unwrap();
    drop(client);
    while tasks() > before {
        tokio::task::yield_now().await;
    }
}
