use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {
    #[attribute]
    pub const BALANCE: Attribute<u64>;

    #[channel]
    pub const PAID: Channel<u64>;

    #[step(start)]
    async fn pay(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn sell(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.cancel_step(Bank::PAY);
        ctx.start_step(Bank::PAY, ())
    }
}

fn main() {}
