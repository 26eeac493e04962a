use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, timeout = "0s", retry(attempts = 0))]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
