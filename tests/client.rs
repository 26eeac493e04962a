//! What a caller does with a run beside calling its RPCs: start it with more than an input, read and write
//! what it holds, wait for what it does.
// The helpers are tests too, for the lints that spare tests.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dex::prelude::*;
use dex::testing::{self, TestBuilder, TestEngine};
use dex::{ErrorKind, Options, Reuse, Run, Status, Stop};

const HOUR: Duration = Duration::from_hours(1);

/// Counts what comes in until it is told to stop.
struct Till;

#[flow(output = u64)]
impl Till {
    #[attribute]
    const TOTAL: Attribute<u64>;

    #[attribute]
    const PHASE: Attribute<String>;

    #[channel]
    const COINS: Channel<u64>;

    #[channel]
    const GO: Channel<bool>;

    #[step(start)]
    async fn open(&self, ctx: &mut StepContext<Self>, phase: String) -> StepResult<Self> {
        ctx.set(Self::PHASE, phase)?;
        Ok(Next::to(Self::COUNT, ()))
    }

    #[wait_for(count)]
    fn told_to(&self) -> WaitResult<Self, bool> {
        Ok(Wait::one(Self::GO.one()))
    }

    /// Takes what there is, and completes at 100.
    #[step]
    async fn count(&self, ctx: &mut StepContext<Self>, _input: (), _go: bool) -> StepResult<Self> {
        ctx.set(Self::PHASE, "counting".into())?;
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn coins(&self) -> WaitResult<Self, Vec<u64>> {
        Ok(Wait::one(Self::COINS.up_to(usize::MAX)))
    }

    #[step]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), coins: Vec<u64>) -> StepResult<Self> {
        let total = ctx.get(Self::TOTAL)?.unwrap_or(0) + coins.iter().sum::<u64>();
        ctx.set(Self::TOTAL, total)?;
        if total >= 100 {
            return Ok(Next::complete(total));
        }
        Ok(Next::to(Self::COUNT, ()))
    }
}

/// Runs `scenario` straight on, and with a crash after every single transition.
async fn each_way(scenario: impl AsyncFn(&TestEngine)) {
    let ways: [fn(TestBuilder) -> TestBuilder; 2] = [|way| way, TestBuilder::crash_after_every_transition];
    for way in ways {
        let engine = way(testing::engine().flow(Till)).start().await.unwrap();
        scenario(&engine).await;
        engine.shutdown(Duration::ZERO).await.unwrap();
    }
}

async fn till(engine: &TestEngine) -> Run<Till> {
    engine.client::<Till>().start("till", "open".into()).await.unwrap()
}

#[tokio::test]
async fn a_run_is_started_with_attributes_and_messages() {
    each_way(async |engine| {
        let start = engine.client::<Till>().start("till", "open".into());
        let start = start.with(Till::TOTAL, 1).with(Till::TOTAL, 40).publish(Till::COINS, 50);
        let run = start.publish(Till::COINS, 10).publish(Till::GO, true).await.unwrap();
        assert_eq!(run.output().await.unwrap(), 100);
    })
    .await;
}

#[tokio::test]
async fn what_a_run_is_started_with_is_part_of_the_commit_that_creates_it() {
    each_way(async |engine| {
        let start = engine.client::<Till>().start("till", "open".into());
        let run = start.with(Till::TOTAL, 40).publish(Till::COINS, 50).await.unwrap();
        let cut = engine.client::<Till>().run("till").await.unwrap();
        assert_eq!(run.run_id(), cut.run_id());
        assert_eq!(cut.get(Till::TOTAL).await.unwrap(), Some(40));
        assert_eq!(cut.messages(Till::COINS).await.unwrap(), [50]);
        engine.settle().await;
        let transitions = run.describe().await.unwrap().transitions;
        assert_eq!(transitions, 3, "the start, the first step, the wait of the second");
    })
    .await;
}

#[tokio::test]
async fn a_value_that_cannot_be_stored_starts_nothing() {
    let engine = testing::engine().flow(Till).start().await.unwrap();
    let client = engine.client::<Till>();
    let large = "x".repeat(2 * 1024 * 1024);
    let error = client.start("till", "open".into()).with(Till::PHASE, large).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert!(client.run("till").await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn a_refused_start_leaves_the_run_that_is_there_as_it_is() {
    let engine = testing::engine().flow(Till).start().await.unwrap();
    let run = till(&engine).await;
    let again = || engine.client::<Till>().start("till", "again".into()).with(Till::TOTAL, 7);
    assert!(again().await.unwrap_err().is_already_started());
    assert_eq!(run.get(Till::TOTAL).await.unwrap(), None);
    let next = again().reuse(Reuse::TerminateIfRunning).await.unwrap();
    assert_eq!(next.get(Till::TOTAL).await.unwrap(), Some(7));
    assert_eq!(run.get(Till::TOTAL).await.unwrap(), None, "a handle stays with its run");
}

#[tokio::test]
async fn attributes_are_set_read_and_unset_from_outside() {
    each_way(async |engine| {
        let run = till(engine).await;
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), None);
        run.set(Till::TOTAL, 5).await.unwrap();
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(5));
        run.delete(Till::TOTAL).await.unwrap();
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), None);
        // What is not there is unset without a word.
        run.delete(Till::TOTAL).await.unwrap();
        run.set(Till::TOTAL, 60).await.unwrap();
        run.publish(Till::COINS, 40).await.unwrap();
        run.publish(Till::GO, true).await.unwrap();
        assert_eq!(run.output().await.unwrap(), 100, "steps see what was set");
    })
    .await;
}

#[tokio::test]
async fn what_was_written_is_there_after_a_restart() {
    let engine = testing::engine().flow(Till).start().await.unwrap();
    let run = till(&engine).await;
    run.set(Till::TOTAL, 5).await.unwrap();
    engine.restart().await.unwrap();
    assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(5));
}

#[tokio::test]
async fn a_closed_run_is_read_and_not_written() {
    each_way(async |engine| {
        let run = till(engine).await;
        run.set(Till::TOTAL, 5).await.unwrap();
        run.publish(Till::COINS, 1).await.unwrap();
        // A handler that runs would get some time.
        engine.settle().await;
        run.cancel().await.unwrap();
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(5));
        assert_eq!(run.messages(Till::COINS).await.unwrap(), [1], "nothing is dropped silently");
        for refused in [
            run.set(Till::TOTAL, 6).await,
            run.delete(Till::TOTAL).await,
            run.update(Till::TOTAL, |_| 6).await.map(drop),
        ] {
            let error = refused.unwrap_err();
            assert!(error.is_closed(), "{error}");
            assert_eq!(error.existing_run(), Some((run.run_id(), Status::Canceled)));
        }
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(5));
    })
    .await;
}

#[tokio::test]
async fn an_update_that_is_repeated_as_one_request_gives_its_first_answer() {
    each_way(async |engine| {
        let run = till(engine).await;
        let request = run.request_id("update-1").unwrap();
        let add = |total: Option<u64>| total.unwrap_or_default() + 5;
        assert_eq!(request.update(Till::TOTAL, add).await.unwrap(), 5);
        assert_eq!(run.update(Till::TOTAL, add).await.unwrap(), 10);
        assert_eq!(request.update(Till::TOTAL, add).await.unwrap(), 5);
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(10));
    })
    .await;
}

#[tokio::test]
async fn updates_that_meet_lose_nothing() {
    each_way(async |engine| {
        let run = till(engine).await;
        let updates: Vec<_> = (0..20)
            .map(|_| {
                let run = run.clone();
                tokio::spawn(async move { run.update(Till::TOTAL, |old| old.unwrap_or(0) + 1).await })
            })
            .collect();
        let mut given = Vec::new();
        for update in updates {
            given.push(update.await.unwrap().unwrap());
        }
        given.sort_unstable();
        assert_eq!(given, (1..=20).collect::<Vec<_>>(), "each saw what the one before it wrote");
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(20));
    })
    .await;
}

#[tokio::test]
async fn an_update_that_is_always_too_late_gives_up() {
    let options = Options { rpc_attempts_max: 3, ..Options::default() };
    let engine = testing::engine().flow(Till).options(options).start().await.unwrap();
    let run = till(&engine).await;
    // An update whose change itself takes so long that another write always comes first.
    let other = run.clone();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let handle = tokio::runtime::Handle::current();
    let late = tokio::task::spawn_blocking(move || {
        let during = handle.clone();
        handle.block_on(other.clone().update(Till::TOTAL, move |old| {
            counted.fetch_add(1, Ordering::SeqCst);
            let (other, old) = (other.clone(), old.unwrap_or(0));
            std::thread::scope(|scope| {
                scope.spawn(|| during.block_on(other.set(Till::TOTAL, old + 1)).unwrap());
            });
            1_000
        }))
    });
    let error = late.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains("`TOTAL`") && error.to_string().contains("3 attempts"), "{error}");
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(3));
}

#[tokio::test]
async fn messages_are_read_in_their_order_until_a_wait_takes_them() {
    each_way(async |engine| {
        let run = till(engine).await;
        assert!(run.messages(Till::COINS).await.unwrap().is_empty());
        for coin in [3, 1, 2] {
            run.publish(Till::COINS, coin).await.unwrap();
        }
        assert_eq!(run.messages(Till::COINS).await.unwrap(), [3, 1, 2]);
        run.publish(Till::GO, true).await.unwrap();
        run.wait_for_step(Till::TAKE, 1).await.unwrap();
        assert!(run.messages(Till::COINS).await.unwrap().is_empty());
        assert_eq!(run.get(Till::TOTAL).await.unwrap(), Some(6));
    })
    .await;
}

#[tokio::test]
async fn a_value_that_is_there_is_no_wait() {
    each_way(async |engine| {
        let run = till(engine).await;
        run.set(Till::TOTAL, 5).await.unwrap();
        assert_eq!(run.wait_until(Till::TOTAL, |total| total == Some(&5)).await.unwrap(), Some(5));
        assert_eq!(run.wait_until(Till::TOTAL, |total| total.is_some()).await.unwrap(), Some(5));
    })
    .await;
}

#[tokio::test]
async fn a_value_is_waited_for_over_any_number_of_openings() {
    each_way(async |engine| {
        let run = till(engine).await;
        let large = tokio::spawn(run.wait_until(Till::TOTAL, |total| total.is_some_and(|total| *total >= 3)));
        let some = tokio::spawn(run.wait_until(Till::TOTAL, |total| total.is_some()));
        for total in 1..=3 {
            run.set(Till::TOTAL, total).await.unwrap();
            engine.restart().await.unwrap();
        }
        assert_eq!(large.await.unwrap().unwrap(), Some(3));
        assert!(some.await.unwrap().unwrap().is_some());
        let none = tokio::spawn(run.wait_until(Till::TOTAL, |total| total.is_none()));
        engine.restart().await.unwrap();
        run.delete(Till::TOTAL).await.unwrap();
        assert_eq!(none.await.unwrap().unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn no_change_is_missed_however_close_it_comes() {
    let engine = testing::engine().flow(Till).start().await.unwrap();
    let run = till(&engine).await;
    for total in 0..200 {
        // The wait and the write race: whichever is first, the wait ends.
        let awaited = tokio::spawn(run.wait_until(Till::TOTAL, move |seen| seen == Some(&total)));
        if total % 2 == 0 {
            tokio::task::yield_now().await;
        }
        run.set(Till::TOTAL, total).await.unwrap();
        assert_eq!(awaited.await.unwrap().unwrap(), Some(total));
    }
}

#[tokio::test]
async fn what_can_no_longer_come_is_not_waited_for() {
    each_way(async |engine| {
        let run = till(engine).await;
        let total = tokio::spawn(run.wait_until(Till::TOTAL, |total| total.is_some()));
        let step = tokio::spawn(run.wait_for_step(Till::COUNT, 1));
        let second = tokio::spawn(run.wait_for_step(Till::COUNT, 2));
        engine.settle().await;
        run.stop(Stop::Fail, "broken").await.unwrap();
        let error = total.await.unwrap().unwrap_err();
        assert!(error.is_closed());
        assert_eq!(error.existing_run(), Some((run.run_id(), Status::Failed)));
        step.await.unwrap().unwrap();
        assert!(second.await.unwrap().unwrap_err().is_closed());
    })
    .await;
}

#[tokio::test]
async fn the_end_of_a_step_is_waited_for() {
    each_way(async |engine| {
        let run = till(engine).await;
        run.wait_for_step(Till::OPEN, 1).await.unwrap();
        run.wait_for_step(Till::OPEN, 1).await.unwrap();
        let second = tokio::spawn(run.wait_for_step(Till::TAKE, 2));
        run.publish(Till::GO, true).await.unwrap();
        run.wait_for_step(Till::TAKE, 1).await.unwrap();
        assert!(!second.is_finished());
        run.publish(Till::GO, true).await.unwrap();
        second.await.unwrap().unwrap();
        let error = run.wait_for_step(Till::TAKE, 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
    })
    .await;
}

#[tokio::test]
async fn a_budget_ends_every_kind_of_wait_and_says_what_did_not_come() {
    each_way(async |engine| {
        let run = till(engine).await;
        engine.settle().await;
        let output = tokio::spawn(run.output().timeout(HOUR));
        let result = tokio::spawn(run.result().timeout(HOUR));
        let total = tokio::spawn(run.wait_until(Till::TOTAL, |total| total.is_some()).timeout(HOUR));
        let step = tokio::spawn(run.wait_for_step(Till::TAKE, 3).timeout(HOUR));
        engine.advance(Duration::from_mins(59)).await;
        assert!(!(output.is_finished() || result.is_finished() || total.is_finished() || step.is_finished()));
        engine.advance(Duration::from_mins(1)).await;
        let errors = [
            (output.await.unwrap().unwrap_err(), "the output of run `till`"),
            (result.await.unwrap().map(drop).unwrap_err(), "the end of run `till`"),
            (total.await.unwrap().unwrap_err(), "attribute `TOTAL` of run `till`"),
            (step.await.unwrap().unwrap_err(), "step execution `take-3` of run `till`"),
        ];
        for (error, what) in errors {
            assert_eq!(error.kind(), ErrorKind::Timeout);
            assert!(error.to_string().contains(what) && error.to_string().contains("3600s"), "{error}");
        }
        // The run does not mind, and can be waited for again.
        run.set(Till::TOTAL, 100).await.unwrap();
        run.publish(Till::GO, true).await.unwrap();
        assert_eq!(run.output().timeout(HOUR).await.unwrap(), 100);
    })
    .await;
}

#[tokio::test]
async fn what_is_there_already_comes_within_no_time_at_all() {
    let engine = testing::engine().flow(Till).start().await.unwrap();
    let run = till(&engine).await;
    run.set(Till::TOTAL, 1).await.unwrap();
    let none = run.wait_until(Till::PHASE, |phase| phase.is_some_and(|phase| phase == "never"));
    assert_eq!(none.timeout(Duration::ZERO).await.unwrap_err().kind(), ErrorKind::Timeout);
    run.cancel().await.unwrap();
    run.result().await.unwrap();
    // It has left memory: what is there is read from the store, which takes real time and none of the budget.
    engine.restart().await.unwrap();
    let run = engine.client::<Till>().run(run.flow_id()).await.unwrap();
    for _ in 0..100 {
        let result = run.result().timeout(Duration::ZERO).await.unwrap();
        assert_eq!(result.status(), Status::Canceled);
        assert_eq!(run.output().timeout(Duration::ZERO).await.unwrap_err().kind(), ErrorKind::RunFailed);
        let total = run.wait_until(Till::TOTAL, |total| total.is_some()).timeout(Duration::ZERO);
        assert_eq!(total.await.unwrap(), Some(1));
    }
}

#[tokio::test]
async fn waits_of_a_dropped_engine_end() {
    let engine = testing::engine().flow(Till).start().await.unwrap();
    let run = till(&engine).await;
    engine.settle().await;
    let total = tokio::spawn(run.wait_until(Till::TOTAL, |total| total.is_some()));
    engine.settle().await;
    engine.shutdown(Duration::ZERO).await.unwrap();
    assert_eq!(total.await.unwrap().unwrap_err().kind(), ErrorKind::ShutDown);
}
