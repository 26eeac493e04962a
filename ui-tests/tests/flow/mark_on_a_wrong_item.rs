use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    const SELL: u64 = 1;

    #[wait_for(sell)]
    const PAID: Channel<u64>;

    #[rpc]
    const ANSWER: u64 = 4;

    #[on_timeout]
    const LATE: u64 = 2;

    #[on_cancel]
    const UNDO: u64 = 3;

    #[attribute]
    fn balance(&self) {}

    #[attribute]
    #[channel]
    const BOTH: Attribute<u64>;
}

#[derive(Keyword)]
union Status {
    open: u8,
}

fn main() {}
