//! Handlers called as plain methods, without an engine.
// The helpers are tests too, for the lints that spare tests.
#![cfg(test)]

use std::time::{Duration, SystemTime};

use dex::prelude::*;
use dex::testing::Change;
use dex::{ChildFailure, ParentEnd};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: String,
    cents: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Status {
    Charged,
    Shipped,
}

#[derive(Debug, thiserror::Error)]
#[error("the carrier is on strike")]
struct Strike;

struct OrderFlow {
    limit: u64,
}

#[flow(output = String)]
impl OrderFlow {
    #[attribute]
    const STATUS: Attribute<Status>;

    #[attribute]
    const NOTE: Attribute<String>;

    #[channel]
    const APPROVAL: Channel<String>;

    #[channel]
    const AUDIT: Channel<String>;

    #[step(start)]
    async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        if order.cents > self.limit {
            return Ok(Next::fail("over the limit"));
        }
        if ctx.get(Self::STATUS)?.is_some() {
            return Ok(Next::dead_end());
        }
        ctx.publish(Self::AUDIT, format!("{} for {}", ctx.idempotency_key(), ctx.flow_id()))?;
        ctx.publish(Self::AUDIT, format!("attempt {}", ctx.attempt()))?;
        ctx.set(Self::STATUS, Status::Charged)?;
        Ok(Next::to(Self::SHIP, order.clone()).and(Self::SHIP, order).and(Self::REFUND, ()))
    }

    #[wait_for(ship)]
    fn seller_or_a_day(
        &self,
        ctx: &mut WaitContext<Self>,
        order: &Order,
    ) -> WaitResult<Self, OneOf2<String, TimerFired>> {
        ctx.set(Self::NOTE, format!("{} waits in attempt {}", order.id, ctx.attempt()))?;
        Ok(Wait::any((Self::APPROVAL.one(), Timer::after(Duration::from_hours(24)))))
    }

    #[step(on_failure = refund_order)]
    fn ship(
        &self,
        ctx: &mut StepContext<Self>,
        order: Order,
        answer: OneOf2<String, TimerFired>,
    ) -> StepResult<Self> {
        let OneOf2::First(by) = answer else { return Ok(Next::to(Self::SHIP, order)) };
        ctx.set(Self::NOTE, by)?;
        ctx.set(Self::STATUS, Status::Shipped)?;
        ctx.delete(Self::NOTE)?;
        Ok(Next::complete(order.id))
    }

    #[step]
    fn refund_order(&self, ctx: &mut StepContext<Self>, _order: Order) -> StepResult<Self> {
        let why = ctx.recovery().map(|recovery| {
            format!("{} failed {} times: {}", recovery.step, recovery.attempts, recovery.failure.message)
        });
        Ok(Next::complete_now(why.unwrap_or_default()))
    }

    #[step]
    fn refund(&self) -> StepResult<Self> {
        Err(StepError::fatal("no account"))
    }

    #[step(entry)]
    fn hurry(&self, order: Order) -> StepResult<Self> {
        let once = StepOptions::new().attempts(1);
        if order.cents == 0 {
            return Ok(Next::complete_if_empty(Self::APPROVAL, order.id.clone()).or_to_with(
                Self::SHIP,
                order,
                once,
            ));
        }
        let mended = StepOptions::new().timeout(Duration::from_secs(5)).on_failure(Self::REFUND_ORDER);
        Ok(Next::to_with(Self::SHIP, order.clone(), mended).and(Self::SHIP, order).and_with(
            Self::REFUND,
            (),
            StepOptions::new().attempts(1),
        ))
    }

    #[rpc]
    fn hurry_up(&self, ctx: &mut RpcContext<Self>, order: Order) -> RpcResult<()> {
        ctx.start_step_with(Self::SHIP, order.clone(), StepOptions::new().attempts(1))?;
        ctx.start_step(Self::SHIP, order)
    }

    #[rpc]
    fn approve(&self, ctx: &mut RpcContext<Self>, by: String) -> RpcResult<Option<Status>> {
        ctx.publish(Self::APPROVAL, by.clone())?;
        ctx.set(Self::NOTE, by)?;
        ctx.start_step(Self::SHIP, Order { id: ctx.flow_id().to_string(), cents: 1 })?;
        ctx.get(Self::STATUS)
    }
}

fn flow() -> OrderFlow {
    OrderFlow { limit: 10_000 }
}

fn order() -> Order {
    Order { id: "17".into(), cents: 4200 }
}

#[tokio::test]
async fn a_step_is_called_and_its_writes_messages_and_decision_are_looked_at() {
    let mut ctx = StepContext::test().flow_id("order-17").attempt(3).build();
    let next = flow().charge(&mut ctx, order()).await.unwrap();

    assert_eq!(ctx.staged(OrderFlow::STATUS), Some(Change::Set(Status::Charged)));
    assert_eq!(ctx.staged(OrderFlow::NOTE), None);
    let key = format!("{}/charge-1", ctx.run_id());
    assert_eq!(ctx.published(OrderFlow::AUDIT), [format!("{key} for order-17"), "attempt 3".into()]);
    assert!(ctx.published(OrderFlow::APPROVAL).is_empty());
    assert_eq!(next.steps(), ["ship", "ship", "refund"]);
    assert_eq!(next.inputs(OrderFlow::SHIP), [order(), order()]);
    assert_eq!(next.inputs(OrderFlow::REFUND), [()]);
    assert_eq!((next.output(), next.failure(), next.is_dead_end()), (None, None, false));
}

#[tokio::test]
async fn a_step_sees_the_attributes_that_the_test_gives() {
    let mut ctx = StepContext::test().with(OrderFlow::STATUS, Status::Charged).build();
    let next = flow().charge(&mut ctx, order()).await.unwrap();
    assert!(next.is_dead_end());
    assert_eq!(ctx.staged(OrderFlow::STATUS), None, "reading is no write");
}

#[tokio::test]
async fn other_decisions_are_told_apart() {
    let mut ctx = StepContext::test().build();
    let next = flow().charge(&mut ctx, Order { cents: 10_001, ..order() }).await.unwrap();
    assert_eq!(next.failure(), Some("over the limit"));
    assert!(next.steps().is_empty() && !next.is_dead_end() && next.output().is_none());
}

#[test]
fn the_last_write_of_an_attribute_counts() {
    let mut ctx = StepContext::test().build();
    let next = flow().ship(&mut ctx, order(), OneOf2::First("ada".into())).unwrap();
    assert_eq!(ctx.staged(OrderFlow::NOTE), Some(Change::Deleted));
    assert_eq!(next.output().as_deref(), Some("17"));
    assert!(next.inputs(OrderFlow::SHIP).is_empty());
}

#[test]
fn a_step_is_called_with_another_outcome_of_its_wait() {
    let mut ctx = StepContext::test().build();
    let next = flow().ship(&mut ctx, order(), OneOf2::Second(TimerFired)).unwrap();
    assert_eq!(next.inputs(OrderFlow::SHIP), [order()]);
}

#[test]
fn a_recovery_step_is_told_what_it_recovers_from() {
    let recovering = StepContext::test().recovery(OrderFlow::SHIP, Strike, 4);
    let mut ctx = recovering.execution(OrderFlow::REFUND_ORDER, 2).build();
    let next = flow().refund_order(&mut ctx, order()).unwrap();
    assert_eq!(next.output().as_deref(), Some("ship failed 4 times: the carrier is on strike"));
    assert_eq!(ctx.execution_id(), "refund_order-2");
    assert!(ctx.recovery().unwrap().may_have_run);

    let waited = StepContext::<OrderFlow>::test().recovery_of_wait(OrderFlow::SHIP, Strike, 1).build();
    assert!(!waited.recovery().unwrap().may_have_run);
}

#[test]
fn an_error_of_a_step_is_seen_as_it_is() {
    assert!(flow().refund().unwrap_err().is_fatal());
}

#[test]
fn a_wait_is_called_and_what_it_asks_for_is_told_in_words() {
    let mut ctx = WaitContext::test().attempt(2).build();
    let wait = flow().seller_or_a_day(&mut ctx, &order()).unwrap();
    assert_eq!(wait.in_words(), "any(APPROVAL.one(), Timer::after(86400s))");
    assert_eq!(ctx.staged(OrderFlow::NOTE), Some(Change::Set("17 waits in attempt 2".into())));
    assert!(ctx.published(OrderFlow::AUDIT).is_empty());
}

#[test]
fn every_kind_of_wait_has_its_words() {
    type Waiting<O> = Wait<OrderFlow, O>;
    let approval = OrderFlow::APPROVAL;
    assert_eq!(Waiting::one(approval.n(2)).in_words(), "APPROVAL.n(2)");
    assert_eq!(Waiting::one(approval.at_least(1)).with(7).in_words(), "APPROVAL.at_least(1).with(7)");
    assert_eq!(Waiting::one(approval.between(2, 5)).in_words(), "APPROVAL.between(2, 5)");
    let both = Waiting::all((approval.up_to(3), Timer::at(SystemTime::UNIX_EPOCH)));
    assert_eq!(both.in_words(), "all(APPROVAL.up_to(3), Timer::at(1970-01-01T00:00:00.000000Z))");
    assert_eq!(Waiting::ready("now".to_owned()).in_words(), "ready(\"now\")");
    let child = SubFlow::<OrderFlow>::run(Order { id: "2".into(), cents: 3 });
    let words = r#"SubFlow::<OrderFlow>::run({"id":"2","cents":3})"#;
    assert_eq!(Waiting::one(child).in_words(), words);
    let child = SubFlow::<OrderFlow>::run(Order { id: "2".into(), cents: 3 });
    let child = child.on_parent_end(ParentEnd::Cancel).with(OrderFlow::NOTE, "new".into());
    let options = r#".with(NOTE, "new").timeout(9s).on_parent_end(ParentEnd::Cancel)"#;
    assert_eq!(Waiting::one(child.timeout(Duration::from_secs(9))).in_words(), format!("{words}{options}"));
}

#[test]
fn a_result_of_a_sub_flow_can_be_made_up() {
    type Made = ChildResult<OrderFlow>;
    let completed = ChildEnd::Completed { output: "shipped".to_owned(), more: Vec::new() };
    assert_eq!(Made::test("c", completed).unwrap().into_result().unwrap(), "shipped");
    let failed = ChildEnd::Failed(ChildFailure::test("lost"));
    let error = Made::test("c", failed).unwrap().into_result().unwrap_err();
    assert_eq!(error.to_string(), "sub-flow `c` gave no output: it failed: lost");
    Made::test("", ChildEnd::Canceled { reason: None }).unwrap_err();
}

#[test]
fn an_rpc_is_called_and_what_it_did_is_looked_at() {
    let given = RpcContext::test().flow_id("order-17").with(OrderFlow::STATUS, Status::Charged);
    let mut ctx = given.build();
    assert_eq!(flow().approve(&mut ctx, "ada".into()).unwrap(), Some(Status::Charged));
    assert_eq!(ctx.published(OrderFlow::APPROVAL), ["ada"]);
    assert_eq!(ctx.staged(OrderFlow::NOTE), Some(Change::Set("ada".into())));
    assert_eq!(ctx.started(OrderFlow::SHIP), [Order { id: "order-17".into(), cents: 1 }]);
    assert!(ctx.started(OrderFlow::REFUND).is_empty());
}

#[test]
fn the_options_of_a_movement_are_looked_at() {
    let once = StepOptions::new().attempts(1);
    let next = flow().hurry(order()).unwrap();
    let mended = StepOptions::new().timeout(Duration::from_secs(5)).on_failure(OrderFlow::REFUND_ORDER);
    assert_eq!(next.options(OrderFlow::SHIP), [mended, StepOptions::new()]);
    assert_eq!(next.options(OrderFlow::REFUND), [StepOptions::new().attempts(1)]);
    assert_eq!(next.inputs(OrderFlow::SHIP), [order(), order()]);
    assert!(next.options(OrderFlow::CHARGE).is_empty());

    let next = flow().hurry(Order { cents: 0, ..order() }).unwrap();
    assert_eq!((next.options(OrderFlow::SHIP), next.output().as_deref()), (vec![once], Some("17")));

    let mut ctx = RpcContext::test().build();
    flow().hurry_up(&mut ctx, order()).unwrap();
    assert_eq!(ctx.started_with(OrderFlow::SHIP), [once, StepOptions::new()]);
    assert!(ctx.started_with(OrderFlow::REFUND).is_empty());
}

#[test]
#[should_panic(expected = "flow id is empty")]
fn an_id_that_cannot_be_one_ends_the_test() {
    let _ = StepContext::<OrderFlow>::test().flow_id("");
}

#[test]
#[should_panic(expected = "only goes with `Next::to` and `Next::each`")]
fn a_decision_that_contradicts_itself_ends_the_test() {
    let next: Next<OrderFlow> = Next::complete("done".into()).and(OrderFlow::REFUND, ());
    let _ = next.steps();
}
