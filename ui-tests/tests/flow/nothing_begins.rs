use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }

    #[step]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
