use dex::prelude::*;

struct Shop;

#[flow(timeout = "0s")]
impl Shop {
    #[step(start, timeout = "0s", retry(attempts = 0))]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_timeout(heartbeat = "0ms")]
    async fn late(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc(timeout = "0d")]
    async fn ask(&self) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
