use dex::prelude::*;

struct Card;

struct Receipt;

struct Shop;

#[flow]
impl Shop {
    #[rpc]
    async fn pay(&self, _card: Card) -> RpcResult<Receipt> {
        Ok(Receipt)
    }
}

fn main() {}
