use dex::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Item {
    name: String,
}

#[derive(serde::Serialize, serde::Deserialize)]
enum Status {
    Open,
}

struct Shop;

#[flow]
impl Shop {
    #[attribute(index)]
    const ITEMS: Attribute<Vec<Item>>;

    #[attribute(index)]
    const STATUS: Attribute<Status>;
}

fn main() {}
