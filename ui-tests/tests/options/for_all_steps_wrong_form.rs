use dex::prelude::*;

struct Shop;

#[flow(steps = "30s")]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
