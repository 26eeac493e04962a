use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const SCORES: AttributeMap<String, u32>;

    #[channel]
    const ORDERS: ChannelMap<u64, String>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::SCORES, 17)?;
        ctx.publish(Self::ORDERS, "book".into())?;
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn score(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<u32>> {
        ctx.get(Self::SCORES)
    }
}

fn a_wait() -> Wait<Shop, String> {
    Wait::one(Shop::ORDERS.one())
}

fn main() {}
