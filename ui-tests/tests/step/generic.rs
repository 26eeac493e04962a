use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell<T: Send>(&self, _order: T) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn ship<'a>(&'a self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn refund(&self, _order: impl Into<String>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
