use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, _ctx: StepContext<Self>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn ask(&self, _ctx: RpcContext<Self>) -> RpcResult<u64> {
        Ok(1)
    }
}

fn main() {}
