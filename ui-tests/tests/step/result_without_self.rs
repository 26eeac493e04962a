use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult {
        Ok(Next::complete(()))
    }
}

fn main() {}
