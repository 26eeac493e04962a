//! A run that another one takes the place of stays the run it was.
#![cfg(test)]

mod support;

use std::pin::Pin;

use dex::prelude::*;
use dex::{ErrorKind, Result, Reuse, Run, Status};
use support::engine;

/// Waits for two messages.
struct Pair;

#[flow(endless)]
impl Pair {
    #[attribute]
    const MARK: Attribute<u64>;
    #[channel]
    const NUMBERS: Channel<u64>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn two(&self) -> WaitResult<Self, Vec<u64>> {
        Ok(Wait::one(Self::NUMBERS.n(2)))
    }

    #[step]
    async fn take(&self, _input: (), _numbers: Vec<u64>) -> StepResult<Self> {
        Ok(Next::dead_end())
    }
}

/// A call of the old run.
type Call = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Lets everything go on that does not wait for a commit.
async fn go_on() {
    for _ in 0..100 {
        // Reads of the store are made on threads of their own.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        tokio::task::yield_now().await;
    }
}

/// Calls a run whose successor was started, when neither its end nor the successor is on disk yet.
async fn call_late(cancelled: bool) {
    let t = engine(Pair).await;
    let old = t.client::<Pair>().start("r", ()).await.unwrap();
    t.settle().await;
    let gate = t.store().gate();
    let spawn = |call: fn(Run<Pair>) -> Call| tokio::spawn(call(old.clone()));
    let cancel = cancelled.then(|| spawn(|old| Box::pin(async move { old.cancel().await })));
    go_on().await;
    let reuse = if cancelled { Reuse::AllowIfClosed } else { Reuse::TerminateIfRunning };
    let client = t.client::<Pair>();
    let start = tokio::spawn(async move { client.start("r", ()).reuse(reuse).await });
    go_on().await;
    let late = [
        spawn(|old| Box::pin(async move { old.publish(Pair::NUMBERS, 1).await })),
        spawn(|old| Box::pin(async move { old.set(Pair::MARK, 1).await })),
        spawn(|old| Box::pin(async move { old.pause().await })),
        spawn(|old| Box::pin(async move { old.terminate().await })),
    ];
    go_on().await;
    drop(gate);

    let new = start.await.unwrap().unwrap();
    for (call, what) in late.into_iter().zip(["publish", "set", "pause", "terminate"]) {
        let error = call.await.unwrap().expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Closed, "{what}: {error}");
        assert_eq!(error.existing_run().unwrap().0, old.run_id(), "{what}: {error}");
    }
    if let Some(cancel) = cancel {
        cancel.await.unwrap().unwrap();
    }
    t.settle().await;
    assert_eq!(new.describe().await.unwrap().status, Status::Running);
    assert_eq!(new.get(Pair::MARK).await.unwrap(), None);
    assert!(new.messages(Pair::NUMBERS).await.unwrap().is_empty(), "a message went to another run");
    let ended = if cancelled { Status::Canceled } else { Status::Terminated };
    assert_eq!(old.describe().await.unwrap().status, ended);
}

#[tokio::test]
async fn a_call_of_a_run_that_is_being_replaced_is_not_a_call_of_the_one_that_replaces_it() {
    call_late(false).await;
}

#[tokio::test]
async fn a_call_of_a_run_that_has_just_ended_is_not_a_call_of_the_next_one_of_its_id() {
    call_late(true).await;
}
