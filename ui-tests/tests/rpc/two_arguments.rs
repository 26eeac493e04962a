use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn pay(&self, _cents: u64, _card: String) -> RpcResult<()> {
        Ok(())
    }
}

fn main() {}
