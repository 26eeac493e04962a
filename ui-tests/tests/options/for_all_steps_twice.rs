use dex::prelude::*;

struct Shop;

#[flow(steps(timeout = "30s", timeout = "1m"), steps(heartbeat = "1s"))]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
