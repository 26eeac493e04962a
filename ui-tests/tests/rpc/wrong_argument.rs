use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn pay(&self, _cents: u64) -> RpcResult<String> {
        Ok(String::new())
    }
}

async fn call(shop: &<Shop as Flow>::Run) -> dex::Result<u64> {
    shop.pay("17").await?;
    shop.pay(17).await
}

fn main() {}
