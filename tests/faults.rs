//! The store fails: callers get typed errors, the engine heals by itself, and what it then knows is what the store has.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::testing::{FailAt, TestEngine};
use dex::{ErrorKind, Status};
use support::{Counter, engine, seconds};

/// Two steps, a message, and an attribute that tells of both.
#[derive(Default)]
struct Ledger {
    first: Counter,
    second: Counter,
}

#[flow(output = u32)]
impl Ledger {
    #[attribute]
    const SUM: Attribute<u32>;
    #[channel]
    const NUMBERS: Channel<u32>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, input: u32) -> StepResult<Self> {
        self.first.add();
        ctx.set(Self::SUM, input)?;
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn a_number(&self) -> WaitResult<Self, u32> {
        self.second.add();
        Ok(Wait::one(Self::NUMBERS.one()))
    }

    #[step]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), number: u32) -> StepResult<Self> {
        let sum = ctx.get(Self::SUM)?.unwrap_or_default() + number;
        ctx.set(Self::SUM, sum)?;
        if number == 0 { Ok(Next::complete(sum)) } else { Ok(Next::to(Self::TAKE, ())) }
    }

    #[rpc]
    async fn sum(&self, ctx: &RpcContext<Self>) -> RpcResult<u32> {
        Ok(ctx.get(Self::SUM)?.unwrap_or_default())
    }

    #[rpc]
    async fn add(&self, ctx: &mut RpcContext<Self>, number: u32) -> RpcResult<()> {
        let sum = ctx.get(Self::SUM)?.unwrap_or_default() + number;
        ctx.set(Self::SUM, sum)
    }
}

async fn waiting_run(t: &TestEngine) -> dex::Run<Ledger> {
    let run = t.client::<Ledger>().start("r", 1).await.unwrap();
    t.settle().await;
    run
}

#[tokio::test]
async fn a_message_whose_commit_fails_is_unknown_and_is_there_if_it_was_written() {
    for (at, kept) in [(FailAt::BeforeWriting, 1), (FailAt::AfterWriting, 6)] {
        let t = engine(Ledger::default()).await;
        let run = waiting_run(&t).await;
        t.store().fail_commit(1, at);
        let error = run.publish(Ledger::NUMBERS, 5).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
        assert!(error.to_string().contains("look at the run"), "{error}");
        t.settle().await;
        // The engine has opened its store again by itself, and tells what that has.
        assert_eq!(run.sum().await.unwrap(), kept, "{at:?}");
        run.publish(Ledger::NUMBERS, 0).await.unwrap();
        assert_eq!(run.output().await.unwrap(), kept, "{at:?}");
    }
}

#[tokio::test]
async fn a_start_whose_commit_fails_is_there_or_may_be_tried_again() {
    for at in [FailAt::BeforeWriting, FailAt::AfterWriting] {
        let t = engine(Ledger::default()).await;
        t.store().fail_commit(1, at);
        let client = t.client::<Ledger>();
        let error = client.start("r", 1).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
        match (at, client.start("r", 1).await) {
            (FailAt::BeforeWriting, Ok(_)) => {}
            (FailAt::AfterWriting, Err(error)) => assert!(error.is_already_started(), "{error:?}"),
            (at, other) => panic!("{at:?}: {other:?}"),
        }
        let run = client.run("r").await.unwrap();
        run.publish(Ledger::NUMBERS, 0).await.unwrap();
        assert_eq!(run.output().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_step_whose_commit_fails_runs_again_unless_it_was_written() {
    for (at, calls) in [(FailAt::BeforeWriting, 2), (FailAt::AfterWriting, 1)] {
        let t = engine(Ledger::default()).await;
        // The start is the first commit, the step's outcome the second.
        t.store().fail_commit(2, at);
        let run = waiting_run(&t).await;
        assert_eq!(t.flow::<Ledger>().first.get(), calls, "{at:?}");
        assert_eq!(run.sum().await.unwrap(), 1);
        run.publish(Ledger::NUMBERS, 0).await.unwrap();
        assert_eq!(run.output().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn an_rpc_whose_commit_fails_is_unknown() {
    for (at, sum) in [(FailAt::BeforeWriting, 1), (FailAt::AfterWriting, 4)] {
        let t = engine(Ledger::default()).await;
        let run = waiting_run(&t).await;
        t.store().fail_commit(1, at);
        assert_eq!(run.add(3).await.err().unwrap().kind(), ErrorKind::OutcomeUnknown);
        assert_eq!(run.sum().await.unwrap(), sum);
    }
}

#[tokio::test]
async fn every_commit_of_a_run_may_fail_in_turn_and_the_run_ends_alike() {
    for at in [FailAt::BeforeWriting, FailAt::AfterWriting] {
        for nth in 2..12 {
            let t = engine(Ledger::default()).await;
            let run = t.client::<Ledger>().start("r", 1).await.unwrap();
            t.store().fail_commit(nth - 1, at);
            let mut sent = 0;
            for number in [1, 2, 0] {
                t.settle().await;
                match run.publish(Ledger::NUMBERS, number).await {
                    Ok(()) => {}
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error:?}");
                        // A caller who looks first knows whether to repeat it.
                        if at == FailAt::BeforeWriting {
                            run.publish(Ledger::NUMBERS, number).await.unwrap();
                        }
                    }
                }
                sent += 1;
            }
            assert_eq!(sent, 3);
            assert_eq!(run.output().await.unwrap(), 4, "{at:?} at commit {nth}");
        }
    }
}

#[tokio::test]
async fn a_full_disk_is_told_as_such_changes_nothing_and_heals_by_itself() {
    let t = engine(Ledger::default()).await;
    let run = waiting_run(&t).await;
    t.store().set_disk_full(true);
    for _ in 0..3 {
        let error = run.publish(Ledger::NUMBERS, 5).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::DiskFull, "{error:?}");
        assert!(error.to_string().contains("free some space"), "{error}");
        t.advance(seconds(2)).await;
    }
    // What needs no space goes on.
    assert_eq!(run.sum().await.unwrap(), 1);
    t.store().set_disk_full(false);
    t.advance(seconds(2)).await;
    run.publish(Ledger::NUMBERS, 0).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 1);
}

#[tokio::test]
async fn a_step_that_meets_a_full_disk_is_not_called_over_and_over() {
    let t = engine(Ledger::default()).await;
    let run = waiting_run(&t).await;
    let gate = t.store().gate();
    let publish = tokio::spawn({
        let run = run.clone();
        async move { run.publish(Ledger::NUMBERS, 0).await }
    });
    tokio::task::spawn_blocking(move || {
        gate.wait_for_commit();
        gate
    })
    .await
    .unwrap()
    .open();
    publish.await.unwrap().unwrap();
    run.output().await.unwrap();

    let before = t.flow::<Ledger>().first.get();
    t.store().set_disk_full(true);
    // The start is refused already, so nothing is there to be called.
    let error = t.client::<Ledger>().start("s", 1).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::DiskFull);
    t.advance(seconds(10)).await;
    assert_eq!(t.flow::<Ledger>().first.get(), before);
    t.store().set_disk_full(false);
    t.advance(seconds(2)).await;

    // Now the disk is full when the step's own outcome is written.
    let gate = t.store().gate();
    let start = tokio::spawn({
        let client = t.client::<Ledger>();
        async move { client.start("u", 1).await.map(drop) }
    });
    let gate = tokio::task::spawn_blocking(move || {
        gate.wait_for_commit();
        gate
    })
    .await
    .unwrap();
    let flow = t.flow::<Ledger>();
    let before = flow.first.get();
    gate.open();
    start.await.unwrap().unwrap();
    t.store().set_disk_full(true);
    t.advance(seconds(10)).await;
    let calls = flow.first.get() - before;
    assert!(calls <= 13, "{calls} calls in ten seconds");
    t.store().set_disk_full(false);
    t.advance(seconds(2)).await;
    let run = t.client::<Ledger>().run("u").await.unwrap();
    run.publish(Ledger::NUMBERS, 0).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 1);
}

#[tokio::test]
async fn nothing_follows_from_a_step_before_its_commit_is_on_disk() {
    let t = engine(Ledger::default()).await;
    let run = waiting_run(&t).await;
    let flow = t.flow::<Ledger>();
    let waits = flow.second.get();
    let gate = t.store().gate();
    let publish = tokio::spawn({
        let run = run.clone();
        async move { run.publish(Ledger::NUMBERS, 5).await }
    });
    let gate = tokio::task::spawn_blocking(move || {
        gate.wait_for_commit();
        gate
    })
    .await
    .unwrap();
    // The message stands at the gate: its sender has no answer, and the step that it wakes is not called.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!publish.is_finished(), "a call was answered before its commit was on disk");
    let query = tokio::spawn({
        let run = run.clone();
        async move { run.describe().await.unwrap() }
    });
    let start = tokio::spawn({
        let client = t.client::<Ledger>();
        async move { client.start("s", 1).await.map(drop) }
    });
    let twice = tokio::spawn({
        let client = t.client::<Ledger>();
        async move { client.start("s", 2).await.map(drop) }
    });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!query.is_finished(), "a query told of what was not on disk");
    assert!(!start.is_finished() && !twice.is_finished(), "a start was answered before it was on disk");
    assert_eq!(flow.second.get(), waits);
    gate.open();
    publish.await.unwrap().unwrap();
    let info = query.await.unwrap();
    assert_eq!(info.status, Status::Running);
    let starts = [start.await.unwrap(), twice.await.unwrap()];
    assert_eq!(starts.iter().filter(|start| start.is_ok()).count(), 1);
    t.settle().await;
    assert_eq!(run.sum().await.unwrap(), 6);
    assert_eq!(flow.second.get(), waits + 2, "the run waits again, and the new one, too");
}

#[tokio::test]
async fn callers_who_wait_outlive_a_fault() {
    let t = engine(Ledger::default()).await;
    let run = waiting_run(&t).await;
    let waiting = tokio::spawn({
        let run = run.clone();
        async move { run.output().await }
    });
    t.settle().await;
    for at in [FailAt::BeforeWriting, FailAt::AfterWriting] {
        t.store().fail_commit(1, at);
        run.add(10).await.err().unwrap();
        t.settle().await;
    }
    run.publish(Ledger::NUMBERS, 0).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), 11);
}
