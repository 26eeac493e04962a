//! smoke
#![allow(missing_docs, clippy::pedantic, clippy::print_stdout)]
use dex::prelude::*;
use dex_runtime as _;
use serde::{Deserialize, Serialize};
use std::time::Duration;
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Status {
    Charged,
    Shipped,
}
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Approval {
    pub by: String,
}
pub struct OrderFlow {
    x: u32,
}
#[flow(output = String)]
impl OrderFlow {
    #[attribute]
    pub const STATUS: Attribute<Status>;
    #[channel]
    pub const APPROVAL: Channel<Approval>;
    #[step(start, retry(total = "1h"))]
    async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        ctx.set(Self::STATUS, Status::Charged)?;
        if ctx.attempt() < 3 {
            return Err(StepError::new("nope"));
        }
        let _ = self.x;
        Ok(Next::to(Self::SHIP, order))
    }
    #[wait_for(ship)]
    fn seller(
        &self,
        _ctx: &WaitContext<Self>,
        _order: &Order,
    ) -> WaitResult<Self, OneOf2<Approval, TimerFired>> {
        Ok(Wait::any((Self::APPROVAL.one(), Timer::after(Duration::from_secs(24 * 3600)))))
    }
    #[step]
    async fn ship(
        &self,
        ctx: &mut StepContext<Self>,
        order: Order,
        answer: OneOf2<Approval, TimerFired>,
    ) -> StepResult<Self> {
        println!("ship {answer:?}");
        if let OneOf2::Second(TimerFired) = answer {
            return Ok(Next::to(Self::SHIP, order));
        }
        ctx.set(Self::STATUS, Status::Shipped)?;
        Ok(Next::complete(format!("shipped {}", order.id)))
    }
    #[rpc]
    async fn approve(&self, ctx: &mut RpcContext<Self>, by: String) -> RpcResult<()> {
        ctx.publish(Self::APPROVAL, Approval { by })
    }
    #[rpc]
    async fn status(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<Status>> {
        ctx.get(Self::STATUS)
    }
}
#[tokio::main]
async fn main() -> dex::Result<()> {
    for crash in [false, true] {
        let mut t = dex::testing::engine().flow(OrderFlow { x: 1 });
        if crash {
            t = t.crash_after_every_transition();
        }
        let t = t.start().await?;
        let run = t.client::<OrderFlow>().start("o", Order { id: "17".into() }).await?;
        println!("{:?}", run.status().await?);
        t.settle().await;
        println!("{}", run.describe().await?.explain());
        t.advance(Duration::from_secs(10)).await;
        println!("{:?}", run.status().await?);
        println!("{}", run.describe().await?.explain());
        t.advance(Duration::from_secs(24 * 3600)).await;
        println!("{}", run.describe().await?.explain());
        run.approve("ada".into()).await?;
        println!("{}", run.output().await?);
        println!("{:?}", run.status().await?);
        println!("{}", run.describe().await?.explain());
        println!("{:?}", run.approve("x".into()).await);
        println!("{:?}", t.client::<OrderFlow>().start("o", Order { id: "17".into() }).await);
    }
    let _ = std::fs::remove_dir_all("/tmp/dexsmoke");
    let dex = Dex::open("/tmp/dexsmoke").flow(OrderFlow { x: 1 }).start().await?;
    let run = dex.client::<OrderFlow>().start("o", Order { id: "17".into() }).await?;
    run.approve("ada".into()).await?;
    println!("{}", run.output().await?);
    dex.shutdown(Duration::from_secs(10)).await
}
