use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn pay(&self) -> String {
        String::new()
    }

    #[rpc]
    async fn refund(&self) {}
}

fn main() {}
