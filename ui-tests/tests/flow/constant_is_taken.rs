use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    const SELL: u32 = 1;

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
