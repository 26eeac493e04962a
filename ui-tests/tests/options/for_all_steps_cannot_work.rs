use dex::prelude::*;

struct Shop;

#[flow(steps(timeout = "0s", retry(attempts = 0, initial = "5m"), heartbeat = "10 secs"))]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }

    #[step(retry(max_interval = "2m"), timeout = "5s")]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
