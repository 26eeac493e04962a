//! A long-lived entity: a subscription that bills every month until it is cancelled, and can be asked and changed
//! at any time.
//!
//! Nothing of it is in memory between two bills. The program plays five months on the test kit's clock.
//!
//! What to look at: the run's state is an attribute, which RPCs read and change while the billing loop waits; the
//! query is answered after the end, too.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::Duration;

use dex::prelude::*;
use dex::testing;
use serde::{Deserialize, Serialize};

const MONTH: Duration = Duration::from_hours(30 * 24);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Plan {
    name: String,
    cents: u64,
}

struct Subscription;

#[flow(output = u64)]
impl Subscription {
    #[attribute]
    const PLAN: Attribute<Plan>;

    /// What was paid so far.
    #[attribute]
    const PAID: Attribute<u64>;

    #[channel]
    const CANCELED: Channel<()>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, plan: Plan) -> StepResult<Self> {
        ctx.set(Self::PLAN, plan)?;
        Ok(Next::to(Self::BILL, ()))
    }

    #[wait_for(bill)]
    fn a_month(&self) -> WaitResult<Self, OneOf2<(), TimerFired>> {
        Ok(Wait::any((Self::CANCELED.one(), Timer::after(MONTH))))
    }

    /// Locks what an upgrade changes as well: the one that comes meanwhile is told to come again.
    #[step(lock(PLAN))]
    async fn bill(
        &self,
        ctx: &mut StepContext<Self>,
        _input: (),
        month: OneOf2<(), TimerFired>,
    ) -> StepResult<Self> {
        let paid = ctx.get(Self::PAID)?.unwrap_or_default();
        if let OneOf2::First(()) = month {
            return Ok(Next::complete(paid));
        }
        let plan = ctx.get(Self::PLAN)?.ok_or_else(|| StepError::fatal("there is no plan"))?;
        println!("bill: {} for {}", plan.cents, plan.name);
        ctx.set(Self::PAID, paid + plan.cents)?;
        Ok(Next::to(Self::BILL, ()))
    }

    #[rpc(lock(PLAN))]
    async fn upgrade(&self, ctx: &mut RpcContext<Self>, plan: Plan) -> RpcResult<Option<Plan>> {
        let before = ctx.get(Self::PLAN)?;
        ctx.set(Self::PLAN, plan)?;
        Ok(before)
    }

    #[rpc]
    async fn cancel_next(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.publish(Self::CANCELED, ())
    }

    #[rpc]
    async fn paid(&self, ctx: &RpcContext<Self>) -> RpcResult<u64> {
        Ok(ctx.get(Self::PAID)?.unwrap_or_default())
    }
}

#[tokio::main]
async fn main() -> dex::Result<()> {
    let engine = testing::engine().flow(Subscription).start().await?;
    let small = Plan { name: "small".into(), cents: 500 };
    let run = engine.client::<Subscription>().start("customer-7", small).await?;
    for month in 1..=5 {
        engine.advance(MONTH).await;
        if month == 2 {
            let before = run.upgrade(Plan { name: "large".into(), cents: 900 }).await?;
            println!("upgrade from {}", before.map(|plan| plan.name).unwrap_or_default());
        }
    }
    run.cancel_next().await?;
    println!("output: {}", run.output().await?);
    println!("asked after the end: {}", run.paid().await?);
    engine.shutdown(Duration::from_secs(1)).await
}
