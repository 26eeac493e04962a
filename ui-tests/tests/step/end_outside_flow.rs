use dex::prelude::*;

struct Shop;

impl Shop {
    #[on_cancel]
    async fn undo(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[flow]
impl Shop {}

fn main() {}
