use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, on_failure = refund)]
    async fn sell(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn refund(&self, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
