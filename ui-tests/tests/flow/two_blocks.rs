use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[flow]
impl Shop {
    #[step(entry)]
    async fn refund(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
