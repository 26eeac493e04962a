use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()).and(Self::SHIP, ()))
    }

    #[step]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::dead_end().cancel(Self::SELL).and(Self::SELL, ()))
    }
}

fn main() {}
