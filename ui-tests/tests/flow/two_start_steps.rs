use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(start)]
    async fn buy(&self, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn close(&self) -> RpcResult<()> {
        Ok(())
    }
}

async fn sell(shop: Client<Shop>) -> dex::Result<()> {
    shop.start("shop-1", String::new()).await?.close().await
}

fn main() {}
