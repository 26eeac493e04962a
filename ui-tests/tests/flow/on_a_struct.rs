use dex::prelude::*;

#[flow]
struct Shop;

fn main() {}
