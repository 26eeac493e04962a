use dex::prelude::*;

struct Balance;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Attribute<Balance>;
}

fn main() {}
