use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {}

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn pay(&self) -> RpcResult<()> {
        Ok(())
    }
}

async fn call(bank: &<Bank as Flow>::Run) -> dex::Result<()> {
    bank.pay().await
}

fn main() {}
