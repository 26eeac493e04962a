use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, on_failure = Bank::refund)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
