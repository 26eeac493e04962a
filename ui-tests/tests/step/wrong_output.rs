use dex::prelude::*;

struct Shop;

#[flow(output = String)]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(17))
    }
}

fn main() {}
