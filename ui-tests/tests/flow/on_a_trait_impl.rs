use dex::prelude::*;

struct Shop;

#[flow]
impl Clone for Shop {
    fn clone(&self) -> Self {
        Self
    }
}

fn main() {}
