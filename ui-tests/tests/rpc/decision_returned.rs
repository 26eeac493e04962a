use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn close(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
