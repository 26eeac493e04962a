use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Attribute<u64>;
}

async fn ask(shop: dex::Run<Shop>) -> dex::Result<Option<u64>> {
    shop.wait_until(Shop::BALANCE, |balance| balance == Some("17")).await
}

fn main() {}
