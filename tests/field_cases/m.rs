//! Memory, fairness, order, and doing nothing when there is nothing to do.

use std::sync::Mutex;
use std::time::Duration;

use dex::prelude::*;
use dex::testing;
use dex::{Options, Status, Stop};
use dex_runtime::store::Store;
use tokio::sync::watch;

use crate::support::{Counter, engine, hours};

/// Waits for a message.
struct Parked;

#[flow(output = String)]
impl Parked {
    #[attribute]
    const STATE: Attribute<String>;
    #[channel]
    const MESSAGES: Channel<String>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, state: String) -> StepResult<Self> {
        ctx.set(Self::STATE, state)?;
        Ok(Next::to(Self::END, ()))
    }

    #[wait_for(end)]
    fn a_message(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::MESSAGES.one()))
    }

    #[step]
    async fn end(&self, _input: (), message: String) -> StepResult<Self> {
        Ok(Next::complete(message))
    }
}

/// M1
#[tokio::test]
async fn parked_runs_take_no_memory_and_an_opening_reads_none_of_them() {
    let options = Options { idle_runs_max: 10, ..Options::default() };
    let t = testing::engine().options(options).flow(Parked).start().await.unwrap();
    for number in 0..2_000 {
        t.client::<Parked>().start(format!("r{number}"), "x".repeat(1_024)).await.unwrap();
    }
    t.settle().await;
    let resident = t.dex().inspect().resident().await.unwrap().len();
    assert!(resident <= 10, "{resident} of 2000 parked runs are in memory");
    t.restart().await.unwrap();
    t.settle().await;
    assert_eq!(t.dex().inspect().resident().await.unwrap(), []);
    // All the same a message finds its run.
    let run = t.client::<Parked>().run("r1234").await.unwrap();
    run.publish(Parked::MESSAGES, "there".into()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "there");
    assert!(t.dex().inspect().resident().await.unwrap().len() <= 1);
}

/// M2
#[tokio::test]
async fn runs_that_were_stopped_leave_memory() {
    let t = engine(Parked).await;
    for (number, stop) in (0..300).zip([Stop::Terminate, Stop::Cancel, Stop::Fail].into_iter().cycle()) {
        let run = t.client::<Parked>().start(format!("r{number}"), "x".repeat(10_000)).await.unwrap();
        run.stop(stop, "not wanted").await.unwrap();
    }
    t.settle().await;
    assert_eq!(t.dex().inspect().resident().await.unwrap(), []);
}

/// M4
#[tokio::test]
async fn an_engine_with_nothing_to_do_does_nothing() {
    let t = engine(Parked).await;
    for number in 0..500 {
        t.client::<Parked>().start(format!("r{number}"), String::new()).await.unwrap();
    }
    t.settle().await;
    let (commits, resident) = (t.store().commits(), t.dex().inspect().resident().await.unwrap());
    t.advance(hours(24)).await;
    assert_eq!(t.store().commits(), commits);
    assert_eq!(t.dex().inspect().resident().await.unwrap(), resident);
}

/// Holds its slot until it is let go, and counts.
struct Backlog {
    calls: Counter,
    go: watch::Sender<bool>,
}

#[flow(output = ())]
impl Backlog {
    #[step(start)]
    async fn only(&self, _input: ()) -> StepResult<Self> {
        self.calls.add();
        let _ = self.go.subscribe().wait_for(|go| *go).await;
        Ok(Next::complete(()))
    }
}

/// Completes with how far the backlog had come.
struct Other {
    backlog: Counter,
}

#[flow(output = usize)]
impl Other {
    #[step(start)]
    async fn only(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::complete(self.backlog.get()))
    }
}

/// M5
#[tokio::test]
async fn the_backlog_of_one_flow_does_not_hold_up_another() {
    const RUNS: usize = 2_000;
    let calls = Counter::default();
    let backlog = Backlog { calls: calls.clone(), go: watch::Sender::new(false) };
    let options = Options { worker_slots: 1, ..Options::default() };
    let builder = testing::engine().options(options).flow(backlog);
    let t = builder.flow(Other { backlog: calls.clone() }).start().await.unwrap();
    for number in 0..RUNS {
        t.client::<Backlog>().start(format!("r{number}"), ()).await.unwrap();
    }
    let other = t.client::<Other>().start("other", ()).await.unwrap();
    // One holds the only slot, and all others wait for it.
    while calls.get() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(calls.get(), 1);
    t.flow::<Backlog>().go.send_replace(true);
    let came_first = other.output().await.unwrap();
    assert!(came_first <= 2, "{came_first} runs of the backlog came first");
    t.settle().await;
    assert_eq!(calls.get(), RUNS);
}

/// Notes in which order its runs and messages came.
#[derive(Default)]
struct Ordered {
    begun: Mutex<Vec<u32>>,
}

#[flow(output = Vec<u32>)]
impl Ordered {
    #[channel]
    const NUMBERS: Channel<u32>;

    #[step(start)]
    async fn begin(&self, number: u32) -> StepResult<Self> {
        self.begun.lock().unwrap().push(number);
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn a_thousand(&self) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::one(Self::NUMBERS.n(1_000)))
    }

    #[step]
    async fn take(&self, _input: (), got: Vec<u32>) -> StepResult<Self> {
        Ok(Next::complete(got))
    }
}

/// M7
#[tokio::test]
async fn what_happens_in_one_instant_keeps_its_order() {
    let options = Options { worker_slots: 1, idle_runs_max: 10, ..Options::default() };
    let t = testing::engine().options(options).flow(Ordered::default()).start().await.unwrap();
    let instant = t.now();
    let expected: Vec<u32> = (0..1_000).collect();
    for number in &expected {
        t.client::<Ordered>().start(format!("r{number}"), *number).await.unwrap();
    }
    t.settle().await;
    assert_eq!(*t.flow::<Ordered>().begun.lock().unwrap(), expected);
    let listed = t.dex().inspect().runs(None, 2_000).await.unwrap();
    let listed: Vec<u32> = listed.iter().map(|run| run.flow_id.as_str()[1..].parse().unwrap()).collect();
    assert_eq!(listed, expected, "the list is not in the order of starting");
    let run = t.client::<Ordered>().run("r0").await.unwrap();
    for number in &expected {
        run.publish(Ordered::NUMBERS, *number).await.unwrap();
    }
    assert_eq!(run.output().await.unwrap(), expected);
    assert_eq!(t.now(), instant);
}

/// Four steps in a row.
struct Chain;

#[flow(output = u32)]
impl Chain {
    #[step(start)]
    async fn one(&self, number: u32) -> StepResult<Self> {
        Ok(Next::to(Self::TWO, number + 1))
    }

    #[step]
    async fn two(&self, number: u32) -> StepResult<Self> {
        Ok(Next::to(Self::THREE, number + 1))
    }

    #[step]
    async fn three(&self, number: u32) -> StepResult<Self> {
        Ok(Next::to(Self::FOUR, number + 1))
    }

    #[step]
    async fn four(&self, number: u32) -> StepResult<Self> {
        Ok(Next::complete(number + 1))
    }
}

/// M8
#[tokio::test]
async fn a_chain_of_steps_waits_for_one_write_each_and_a_message_for_two_whatever_else_is_parked() {
    let options = Options { idle_runs_max: 10, ..Options::default() };
    let t = testing::engine().options(options).flow(Parked).flow(Chain).start().await.unwrap();
    for number in 0..1_000 {
        t.client::<Parked>().start(format!("r{number}"), String::new()).await.unwrap();
    }
    t.settle().await;
    // The clock stands still, so nothing here waits for a pause or a poll.
    let before = t.store().commits();
    let run = t.client::<Chain>().start("chain", 0).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 4);
    assert_eq!(t.store().commits() - before, 5, "the start and four steps");
    for number in (0..1_000).step_by(100) {
        let before = t.store().commits();
        let run = t.client::<Parked>().run(format!("r{number}")).await.unwrap();
        run.publish(Parked::MESSAGES, "there".into()).await.unwrap();
        assert_eq!(run.output().await.unwrap(), "there");
        assert_eq!(t.store().commits() - before, 2, "the message and the step");
        assert_eq!(t.store().summary(run.run_id()).unwrap().unwrap().status, Status::Completed);
    }
    t.shutdown(Duration::ZERO).await.unwrap();
}
