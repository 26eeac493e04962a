use dex::prelude::*;

struct Shop;

struct Other;

#[flow]
impl Other {
    #[step(start)]
    async fn refund(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, order: String) -> StepResult<Self> {
        Ok(Next::to_with(Self::SHIP, order, StepOptions::new().on_failure(Other::REFUND)))
    }

    #[step]
    async fn ship(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
