use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_timeout]
    async fn late(&self, _ctx: &mut RpcContext<Self>) {}

    #[on_cancel]
    async fn undo(&mut self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
