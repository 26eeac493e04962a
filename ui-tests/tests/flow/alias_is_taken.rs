use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, alias = "")]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }

    #[step(alias = "sell")]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc(alias = "ship")]
    async fn send(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
