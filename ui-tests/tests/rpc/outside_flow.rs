use dex::prelude::*;

#[rpc]
async fn pay() {}

fn main() {}
