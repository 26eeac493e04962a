use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Attribute<u64>;

    #[attribute]
    const OWNER: Attribute<String>;

    #[channel]
    const PAID: Channel<u64>;

    #[step(start, lock(BALANCES))]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc(lock(PAID, Self::OWNER))]
    async fn pay(&self) -> RpcResult<()> {
        Ok(())
    }

    #[rpc(lock)]
    async fn owe(&self) -> RpcResult<()> {
        Ok(())
    }

    #[rpc(lock())]
    async fn earn(&self) -> RpcResult<()> {
        Ok(())
    }

    #[step(entry, no_lock(BALANCES, PAID))]
    async fn close(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc(lock(PAID))]
    async fn spend(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
