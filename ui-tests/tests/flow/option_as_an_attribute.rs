use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[start]
    #[step]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
