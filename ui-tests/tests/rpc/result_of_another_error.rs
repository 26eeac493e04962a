use dex::prelude::*;

struct Shop;

#[flow(endless)]
impl Shop {
    #[rpc]
    async fn pay(&self) -> Result<u64, std::io::Error> {
        Ok(1)
    }

    #[rpc]
    async fn refund(&self) -> std::io::Result<u64> {
        Ok(1)
    }
}

fn main() {}
