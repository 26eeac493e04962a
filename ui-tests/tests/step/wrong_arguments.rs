use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, _order: &String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn ship(&self, _ctx: &mut WaitContext<Self>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn refund(&self, _order: String, _ctx: &mut StepContext<Self>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
