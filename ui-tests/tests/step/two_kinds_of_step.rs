use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    #[on_cancel]
    async fn undo(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_timeout(start)]
    async fn late(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
