use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, order: String) -> StepResult<Self> {
        Ok(Next::to_with(Self::SHIP, order, StepOptions::new().attempts(3).on_failure(Self::REFUND)))
    }

    #[step]
    async fn ship(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn refund(&self, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
