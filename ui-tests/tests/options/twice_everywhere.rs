use dex::prelude::*;

struct Shop;

#[flow(endless, name = "shop", endless)]
impl Shop {
    #[attribute(index, index)]
    const BALANCE: Attribute<u64>;

    #[channel(name = "paid", name = "paid")]
    const PAID: Channel<u64>;

    #[step(start, retry(attempts = 3), start, retry(attempts = 4, attempts = 5))]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_timeout(name = "late", name = "later")]
    async fn late(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_cancel(alias = "undone", alias = "back")]
    async fn undo(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc(timeout = "1s", timeout = "2s")]
    async fn ask(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
