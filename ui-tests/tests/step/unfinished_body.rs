use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.
    }

    #[rpc]
    async fn ask(&self) -> RpcResult<()> {
        todo!()
    }
}

async fn ask(shop: dex::Run<Shop>) -> dex::Result<()> {
    shop.ask().await
}

fn main() {}
