use dex::prelude::*;

struct Shop;

impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[flow]
impl Shop {}

fn main() {}
