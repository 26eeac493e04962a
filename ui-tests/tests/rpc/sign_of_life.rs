use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn ask(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.heartbeat();
        Ok(())
    }

    #[wait_for(sell)]
    fn pause(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        ctx.checkpoint(&17)?;
        Ok(Wait::ready(()))
    }

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
