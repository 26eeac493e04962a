use dex::prelude::*;

struct Shop;

#[flow(name = Shop)]
impl Shop {
    #[step(start = true, retry = 3)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(timeout, on_failure = "sell")]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step = "start"]
    async fn refund(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
