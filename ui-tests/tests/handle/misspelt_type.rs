use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Atribute<u64>;
}

fn main() {}
