use dex::prelude::*;

struct Shop;

#[flow(outptu = String)]
impl Shop {
    #[attribute(indexed)]
    const BALANCE: Attribute<u64>;

    #[step(start, retires = 3)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step(retry(colour = "red"))]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[rpc(locks(BALANCE))]
    async fn pay(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
