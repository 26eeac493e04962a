//! The flow of the product page, in a crate that denies what crates like to deny.
#![deny(missing_docs, unsafe_code, unused, unreachable_pub, missing_debug_implementations, non_snake_case)]
#![deny(private_interfaces, private_bounds)]

use std::time::Duration;

use dex::prelude::*;
use serde::{Deserialize, Serialize};

/// An order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Its number.
    pub id: String,
    /// What it costs.
    pub cents: u64,
}

/// Where an order stands.
#[derive(Clone, Debug, PartialEq, Keyword, Serialize, Deserialize)]
pub enum Status {
    /// Paid.
    Charged,
    /// On its way.
    Shipped,
    /// Paid back.
    Refunded,
}

/// The seller's word.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Approval {
    /// Who said it.
    pub by: String,
}

#[derive(Debug)]
struct Shop;

impl Shop {
    async fn charge(&self, order: &Order, _key: &str) -> Result<(), std::num::ParseIntError> {
        order.id.parse::<u32>().map(drop)
    }

    async fn ship(&self, order: &Order) -> std::io::Result<()> {
        if order.cents == 0 { Err(std::io::Error::other("nothing to ship")) } else { Ok(()) }
    }
}

/// Dependencies are ordinary fields: one value serves every run.
#[derive(Debug)]
pub struct OrderFlow {
    shop: Shop,
}

/// From the card to the door.
#[flow(output = String)]
impl OrderFlow {
    /// Where the order stands. Support searches by it.
    #[attribute(index)]
    pub const STATUS: Attribute<Status>;

    /// What sellers say.
    #[channel]
    pub const APPROVAL: Channel<Approval>;

    #[step(start, retry(total = "1h"))]
    async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        self.shop.charge(&order, ctx.idempotency_key()).await?;
        ctx.set(Self::STATUS, Status::Charged)?;
        Ok(Next::to(Self::SHIP, order))
    }

    #[wait_for(ship)]
    fn seller_or_a_day(
        &self,
        _ctx: &WaitContext<Self>,
        _order: &Order,
    ) -> WaitResult<Self, OneOf2<Approval, TimerFired>> {
        Ok(Wait::any((Self::APPROVAL.one(), Timer::after(Duration::from_secs(24 * 3600)))))
    }

    #[step(retry(total = "1h"), on_failure = refund)]
    async fn ship(
        &self,
        ctx: &mut StepContext<Self>,
        order: Order,
        answer: OneOf2<Approval, TimerFired>,
    ) -> StepResult<Self> {
        if let OneOf2::Second(TimerFired) = answer {
            return Ok(Next::to(Self::SHIP, order));
        }
        self.shop.ship(&order).await?;
        ctx.set(Self::STATUS, Status::Shipped)?;
        Ok(Next::complete(format!("shipped {}", order.id)))
    }

    #[step(retry(total = "1h"))]
    async fn refund(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
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

/// Private methods are there for callers in the same module.
async fn call(order: &<OrderFlow as Flow>::Run) -> dex::Result<Option<Status>> {
    order.approve("ada".into()).await?;
    order.status().await
}

fn main() {
    let _ = OrderFlow { shop: Shop };
    let definition = OrderFlow::definition();
    assert_eq!(definition.start().map(|step| step.name), Some("charge"));
    assert_eq!(definition.docs, "From the card to the door.");
    let (_, ship) = definition.step("ship").unwrap();
    assert_eq!(ship.on_failure, Some("refund"));
    assert_eq!(ship.wait.as_ref().unwrap().outcome, "OneOf2<Approval, TimerFired>");
    assert_eq!(ship.edges.iter().map(|edge| edge.to).collect::<Vec<_>>(), ["ship", "refund"]);
    assert_eq!(definition.rpcs.iter().map(|rpc| (rpc.output, rpc.writes)).collect::<Vec<_>>(), [
        ("()", true),
        ("Option<Status>", false)
    ]);
    assert_eq!(Status::Shipped.keyword(), "Shipped");
    let _ = call;
}
