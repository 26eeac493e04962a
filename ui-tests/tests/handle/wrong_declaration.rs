use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Channel<u64>;

    #[channel]
    const PAID: Attribute<u64>;

    #[attribute]
    const PRICE: Attribute<Self, u64>;

    #[attribute]
    const COUNT: Attribute<u64> = 17;

    #[channel]
    const SOLD: Channel;

    #[channel]
    fn sold(&self) {}
}

fn use_them() {
    let _ = (Shop::BALANCE, Shop::PAID, Shop::COUNT);
}

fn main() {}
