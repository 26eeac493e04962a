use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn ask(&self, _ctx: &mut StepContext<Self>) -> RpcResult<()> {
        Ok(())
    }

    #[rpc]
    async fn tell(&self, _text: &str) -> RpcResult<()> {
        Ok(())
    }

    #[rpc]
    async fn shout(text: String) -> RpcResult<()> {
        Ok(drop(text))
    }
}

fn main() {}
