use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, timeout = "10s", heartbeat = "10s")]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
