use dex::prelude::*;

struct Shop;

#[flow(name = "")]
impl Shop {
    #[step(start, name = "a\nb")]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc(name = "this name is longer than one hundred and twenty-eight bytes, which is more than anybody needs to tell what a thing is, really")]
    async fn open(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
