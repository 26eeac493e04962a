use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, on_failure = refund, on_exhausted = park, durability = async)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn refund(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
