use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute(index, alias = "grades")]
    const SCORES: AttributeMap<String, u32>;
}

fn main() {
    let _ = Shop::SCORES.at("ada");
}
