use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {}

impl Shop {
    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::ready(17))
    }
}

fn main() {}
