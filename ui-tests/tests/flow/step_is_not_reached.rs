use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::to(Self::THANK, ()))
    }

    #[step]
    async fn thank(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }
}

fn main() {}
