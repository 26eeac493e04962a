use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, 17))
    }

    #[step]
    async fn ship(&self, _address: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
