use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(entry)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn open(&self, ctx: &RpcContext<Self>) -> RpcResult<()> {
        ctx.start_step(Self::SELL, ())
    }
}

fn main() {}
