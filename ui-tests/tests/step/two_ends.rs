use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_cancel]
    async fn undo(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_cancel]
    async fn undo_more(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
