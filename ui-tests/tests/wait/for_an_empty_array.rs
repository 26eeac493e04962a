use dex::prelude::*;

fn main() {
    let _: WaitResult<Shop, Vec<TimerFired>> = Ok(Wait::all::<[Timer; 0], _>([]));
}

struct Shop;

#[flow]
impl Shop {}
