use std::collections::HashMap;

use dex::prelude::*;

struct Shop;

#[flow(endless)]
impl Shop {
    #[attribute]
    const LEFT: u64;

    #[attribute]
    const STOCK: HashMap<String, u64>;

    #[channel]
    const ORDERS: Vec<String>;
}

fn main() {}
