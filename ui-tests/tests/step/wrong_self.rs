use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&mut self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn ship(self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn refund(_order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
