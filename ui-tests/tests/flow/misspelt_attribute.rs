use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[stpe(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
