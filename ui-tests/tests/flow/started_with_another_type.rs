use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

async fn sell(shop: Client<Shop>) -> dex::Result<()> {
    shop.start("shop-1", 17).await?;
    Ok(())
}

fn main() {}
