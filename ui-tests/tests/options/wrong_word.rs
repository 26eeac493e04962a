use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, on_exhausted = parc, durability = "async")]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
