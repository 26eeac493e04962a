use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[start]
    #[step]
    async fn sell(&self, goods: String) -> StepResult<Self> {
        Ok(Next::complete(drop(goods)))
    }

    #[step(timeout = "1s")]
    #[entry]
    async fn give_back(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }
}

async fn start(shop: Client<Shop>) -> dex::Result<()> {
    shop.start("lamp", String::from("a lamp")).await?;
    Ok(())
}

fn main() {}
