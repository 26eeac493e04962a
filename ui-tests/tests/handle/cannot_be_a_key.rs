use dex::prelude::*;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    name: String,
}

#[derive(Keyword)]
enum Size {
    Small,
}

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const PRICES: AttributeMap<Item, u32>;

    #[channel]
    const WEIGHED: ChannelMap<f64, u32>;

    #[attribute]
    const STOCK: AttributeMap<Size, u32>;
}

fn main() {}
