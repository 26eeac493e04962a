use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, retry(initial = "2s", max_interval = "1s", factor = 0.5))]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(retry(initial = "5m"))]
    async fn refund(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
