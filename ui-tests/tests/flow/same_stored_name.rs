use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute(name = "open")]
    const IS_OPEN: Attribute<bool>;

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(name = "sell")]
    async fn sell_again(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn open(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
