use dex::prelude::*;

#[derive(Keyword)]
enum Status {
    Open,
    Closed(u64),
}

#[derive(Keyword)]
struct Price;

fn main() {}
