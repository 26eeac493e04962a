//! Other attributes on handlers, above and below ours: each sees the method as it is written.
#![deny(warnings)]

use dex::prelude::*;

#[derive(Debug)]
struct Shop;

#[flow]
impl Shop {
    #[tracing::instrument]
    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>, order: String) -> StepResult<Self> {
        tracing::info!(attempt = ctx.attempt(), "selling");
        Ok(Next::to(Self::SHIP, order))
    }

    #[wait_for(ship)]
    #[tracing::instrument(skip_all)]
    fn pause(&self, _ctx: &WaitContext<Self>, order: &String) -> WaitResult<Self, u64> {
        Ok(Wait::ready(order.len() as u64))
    }

    #[step]
    #[tracing::instrument(skip(self), fields(order.length = length))]
    #[allow(clippy::unused_async)]
    async fn ship(&self, order: String, length: u64) -> StepResult<Self> {
        Ok(if order.is_empty() { Next::fail(length.to_string()) } else { Next::complete(()) })
    }

    #[tracing::instrument(err)]
    #[rpc]
    async fn ask(&self, ctx: &RpcContext<Self>) -> RpcResult<String> {
        Ok(ctx.flow_id().to_string())
    }

    #[on_cancel]
    #[tracing::instrument]
    fn undo(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {
    assert_eq!(Shop::definition().steps.len(), 3);
    let _ = Shop;
}
