//! Steps that have attributes for themselves.
#![cfg(test)]

mod support;

use dex::definition::{FlowDefinition, RpcDefinition, StepDefinition};
use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::{ErrorKind, Options, Status, testing};
use support::hand::{Hand, Script, first, step};
use support::{Counter, IN_MEMORY, each_way, engine};
use tokio::sync::watch;

/// Starts so many steps that all want `total`, and counts how many of them run at once.
struct Tally {
    running: watch::Sender<usize>,
    most: Counter,
    open: watch::Sender<bool>,
}

fn tally() -> Hand<Tally> {
    Hand(Tally { running: watch::Sender::new(0), most: Counter::default(), open: watch::Sender::new(true) })
}

const TOTAL: &[&str] = &["total"];

impl Script for Tally {
    const DEFINITION: &'static FlowDefinition = &FlowDefinition {
        name: "Tally",
        steps: &[
            first("fork"),
            StepDefinition { locks: TOTAL, ..step("add") },
            StepDefinition { locks: &["other"], ..step("aside") },
        ],
        rpcs: &[
            RpcDefinition { name: "set", writes: true, locks: TOTAL, ..RpcDefinition::DEFAULT },
            RpcDefinition { name: "free", writes: true, ..RpcDefinition::DEFAULT },
        ],
        ..FlowDefinition::DEFAULT
    };

    async fn step(
        &self,
        step: &'static str,
        ctx: &mut StepContext<Hand<Self>>,
        input: Option<u32>,
    ) -> StepResult<Hand<Self>> {
        match step {
            "fork" => {
                let adds = (0..input.unwrap_or_default()).map(Some);
                Ok(Next::each(Hand::to("add"), adds).and(Hand::to("aside"), None))
            }
            "aside" => Ok(Next::dead_end()),
            _ => {
                self.running.send_modify(|running| *running += 1);
                if *self.running.borrow() > 1 {
                    self.most.add();
                }
                let _ = self.open.subscribe().wait_for(|open| *open).await;
                tokio::task::yield_now().await;
                self.running.send_modify(|running| *running -= 1);
                // Safe without any care, since nobody else is here.
                let total = ctx.get(Hand::number("total"))?.unwrap_or_default() + 1;
                ctx.set(Hand::number("total"), total)?;
                Ok(Next::complete(total))
            }
        }
    }

    fn rpc(&self, rpc: &'static str, ctx: &mut RpcContext<Hand<Self>>) -> RpcResult<u32> {
        let name = if rpc == "set" { "total" } else { "free" };
        ctx.set(Hand::number(name), 100)?;
        Ok(100)
    }
}

#[tokio::test]
async fn steps_that_lock_one_attribute_run_one_after_the_other_in_order() {
    each_way(IN_MEMORY, tally, async |t| {
        let run = t.client().start("r", Some(10)).await.unwrap();
        t.settle().await;
        let result = run.result().await.unwrap();
        let outputs: Vec<u32> = result.outputs().unwrap().into_iter().map(|(_, total)| total).collect();
        assert_eq!(outputs, (1..=10).collect::<Vec<_>>(), "{:?}", t.way);
    })
    .await;
    let t = engine(tally()).await;
    let run = t.client::<Hand<Tally>>().start("r", Some(10)).await.unwrap();
    run.result().await.unwrap();
    assert_eq!(t.flow::<Hand<Tally>>().0.most.get(), 0, "two had it at once");
}

#[tokio::test]
async fn a_step_that_waits_for_a_lock_says_which_and_who_holds_it() {
    let t = engine(tally()).await;
    t.flow::<Hand<Tally>>().0.open.send_replace(false);
    let run = t.client::<Hand<Tally>>().start("r", Some(2)).await.unwrap();
    t.settle().await;
    let info = run.describe().await.unwrap();
    // The step that locks something else was not held up.
    assert_eq!(info.steps.len(), 2, "{info:?}");
    let waiting = &info.steps[1];
    assert_eq!(
        (waiting.locks[0].name.as_str(), waiting.locks[0].holder.as_deref()),
        ("total", Some("add-1"))
    );
    t.flow::<Hand<Tally>>().0.open.send_replace(true);
    assert_eq!(run.result().await.unwrap().status(), Status::Completed);
}

#[tokio::test]
async fn an_rpc_that_locks_fails_at_once_while_a_step_holds_the_lock() {
    let t = engine(tally()).await;
    t.flow::<Hand<Tally>>().0.open.send_replace(false);
    let run = t.client::<Hand<Tally>>().start("r", Some(1)).await.unwrap();
    t.settle().await;
    let error = run.call::<(), u32>("set", &()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().contains("total"), "{error}");
    // One that locks nothing is not held up.
    assert_eq!(run.call::<(), u32>("free", &()).await.unwrap(), 100);
    t.flow::<Hand<Tally>>().0.open.send_replace(true);
    run.result().await.unwrap();
}

#[tokio::test]
async fn a_step_that_waits_for_a_lock_holds_no_slot() {
    let options = Options { worker_slots: 2, ..Options::default() };
    let t = testing::engine().flow(tally()).options(options).start().await.unwrap();
    t.flow::<Hand<Tally>>().0.open.send_replace(false);
    let run = t.client::<Hand<Tally>>().start("r", Some(6)).await.unwrap();
    t.settle().await;
    // One of them holds a slot, and five wait; another run needs the other slot.
    let waiting = run.describe().await.unwrap().steps;
    assert_eq!(waiting.iter().filter(|step| step.phase == StepPhase::Locked).count(), 5);
    let other = t.client::<Hand<Tally>>().start("other", Some(0)).await.unwrap();
    other.wait_for_step(Hand::<Tally>::to("aside"), 1).await.unwrap();
    t.flow::<Hand<Tally>>().0.open.send_replace(true);
    assert_eq!(run.result().await.unwrap().outputs().unwrap().len(), 6);
}

/// Its second step waits for a message, and has the attribute for itself only once it runs.
#[derive(Default)]
struct Polite {
    asked: Counter,
    go_on: tokio::sync::Notify,
}

#[flow(output = u32)]
impl Polite {
    #[attribute]
    const TOTAL: Attribute<u32>;
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::HOLD, ()).and(Self::TAKE, ()))
    }

    #[step(lock(TOTAL))]
    async fn hold(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        self.go_on.notified().await;
        ctx.set(Self::TOTAL, 1)?;
        Ok(Next::dead_end())
    }

    #[wait_for(take)]
    fn a_message(&self) -> WaitResult<Self, ()> {
        self.asked.add();
        Ok(Wait::one(Self::GO.one()))
    }

    #[step(lock(TOTAL))]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), _go: ()) -> StepResult<Self> {
        Ok(Next::complete(ctx.get(Self::TOTAL)?.unwrap_or_default() + 1))
    }

    #[rpc(lock(TOTAL))]
    async fn double(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        let total = ctx.require(Self::TOTAL)?;
        ctx.set(Self::TOTAL, total * 2)
    }
}

#[tokio::test]
async fn a_wait_takes_no_locks_and_is_held_up_by_none() {
    let t = engine(Polite::default()).await;
    let run = t.client::<Polite>().start("r", ()).await.unwrap();
    t.settle().await;
    // The lock is held, and the wait was asked for all the same.
    let phases = async || {
        let steps = run.describe().await.unwrap().steps;
        steps.into_iter().map(|step| (step.id, step.phase)).collect::<Vec<_>>()
    };
    let named = |id: &str, phase| (id.to_owned(), phase);
    let held = [named("hold-1", StepPhase::Running), named("take-1", StepPhase::Waiting)];
    assert_eq!((phases().await, t.flow::<Polite>().asked.get()), (held.to_vec(), 1));
    assert_eq!(run.double().await.unwrap_err().kind(), ErrorKind::Locked);
    t.flow::<Polite>().go_on.notify_one();
    t.settle().await;
    // Nobody has the lock as long as the step only waits.
    assert_eq!(phases().await, [named("take-1", StepPhase::Waiting)]);
    run.double().await.unwrap();
    run.publish(Polite::GO, ()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 3);
}
