use dex::prelude::*;

struct Shop;

#[flow(outptu = String)]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete("sold".into()))
    }
}

async fn sell(shop: Client<Shop>) -> dex::Result<String> {
    shop.start("lamp", ()).await?.output().await
}

fn main() {}
