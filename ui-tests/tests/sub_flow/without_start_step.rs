use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {
    #[step]
    async fn pay(&self, _amount: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn begin(&self, ctx: &mut RpcContext<Self>, amount: u64) -> RpcResult<()> {
        ctx.start_step(Self::PAY, amount)
    }
}

struct Shop;

#[flow]
impl Shop {
    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, ChildResult<Bank>> {
        Ok(Wait::one(SubFlow::<Bank>::run(())))
    }

    #[step(start)]
    async fn ship(&self, _input: (), _paid: ChildResult<Bank>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
