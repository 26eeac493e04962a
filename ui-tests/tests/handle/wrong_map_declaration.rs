use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCES: ChannelMap<String, u64>;

    #[channel]
    const PAID: AttributeMap<String, u64>;

    #[attribute]
    const PRICES: Attribute<String, u64>;

    #[attribute]
    const COUNTS: AttributeMap<u64>;

    #[channel]
    const SOLD: ChannelMap;

    #[channel]
    const SENT: ChannelMap<Self, String, u64>;
}

fn use_them() {
    let _ = (Shop::BALANCES, Shop::PAID);
}

fn main() {}
