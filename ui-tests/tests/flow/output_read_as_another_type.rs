use dex::prelude::*;

struct Shop;

#[flow(output = String)]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(String::new()))
    }
}

async fn read(shop: dex::Run<Shop>) -> dex::Result<u64> {
    shop.output().await
}

fn main() {}
