//! One order: charge a card; wait for the seller's approval or a day; remind and wait again; ship; pay back
//! when shipping fails for good.
//!
//! What to look at: the whole flow is one `impl` block; a step names the next one by its handle; the outcome
//! of the wait is an argument of the step; `approve` and `status` are methods of the run. The shop stands for
//! the outside world and has nothing to do with dex.
//!
//! The order's id is `order-17`, so a second start is refused: remove `./dex-data` to begin anew.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

mod shop;

use std::time::Duration;

use dex::prelude::*;
use serde::{Deserialize, Serialize};
use shop::{Order, Shop};

#[derive(Clone, Debug, PartialEq, Keyword, Serialize, Deserialize)]
enum Status {
    Charged,
    Shipped,
    Refunded,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Approval {
    by: String,
}

/// What a step that waited for the seller is given.
type Answer = OneOf2<Approval, TimerFired>;

/// Dependencies are ordinary fields: one value serves every run.
struct OrderFlow {
    shop: Shop,
}

#[flow(output = String)]
impl OrderFlow {
    /// Where the order stands.
    #[attribute(index)]
    const STATUS: Attribute<Status>;

    #[channel]
    const APPROVAL: Channel<Approval>;

    #[step(start, retry(total = "1h"))]
    async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        self.shop.charge(&order, ctx.idempotency_key()).await?;
        ctx.set(Self::STATUS, Status::Charged)?;
        Ok(Next::to(Self::SHIP, order))
    }

    #[wait_for(ship)]
    fn seller_or_a_day(&self, _ctx: &WaitContext<Self>, _order: &Order) -> WaitResult<Self, Answer> {
        Ok(Wait::any((Self::APPROVAL.one(), Timer::after(Duration::from_hours(24)))))
    }

    #[step(retry(total = "1h"), on_failure = refund)]
    async fn ship(&self, ctx: &mut StepContext<Self>, order: Order, answer: Answer) -> StepResult<Self> {
        if let OneOf2::Second(TimerFired) = answer {
            self.shop.remind(&order).await?;
            return Ok(Next::to(Self::SHIP, order));
        }
        self.shop.ship(&order).await?;
        ctx.set(Self::STATUS, Status::Shipped)?;
        Ok(Next::complete(format!("shipped {}", order.id)))
    }

    #[step(retry(total = "1h"))]
    async fn refund(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        self.shop.refund(&order).await?;
        ctx.set(Self::STATUS, Status::Refunded)?;
        Ok(Next::complete(format!("refunded {}", order.id)))
    }

    /// Takes `&mut`: it may write, so it is one atomic transaction on the run.
    #[rpc]
    async fn approve(&self, ctx: &mut RpcContext<Self>, by: String) -> RpcResult<()> {
        ctx.publish(Self::APPROVAL, Approval { by })
    }

    /// Takes `&`: a query. It cannot write, writes no history, and works on a closed run.
    #[rpc]
    async fn status(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<Status>> {
        ctx.get(Self::STATUS)
    }
}

#[tokio::main]
async fn main() -> dex::Result<()> {
    let dex = Dex::open("./dex-data/order").flow(OrderFlow { shop: Shop::connect() }).start().await?;

    let input = Order { id: "17".into(), email: "a@b.c".into(), cents: 4200 };
    let order = dex.client::<OrderFlow>().start("order-17", input).await?;
    order.approve("ada".into()).await?;
    println!("{:?}", order.status().await?);
    println!("{}", order.output().await?);

    dex.shutdown(Duration::from_secs(10)).await
}
