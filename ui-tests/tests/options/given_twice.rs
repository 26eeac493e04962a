use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, timeout = "1s", timeout = "2s")]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
