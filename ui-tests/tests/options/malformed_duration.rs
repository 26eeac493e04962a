use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, timeout = "10 minuts", retry(total = "1", initial = 5))]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
