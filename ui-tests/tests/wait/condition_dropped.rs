#![deny(unused_must_use)]
use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Self::PAID.one();
        Wait::one(Self::PAID.one());
        Ok(Wait::ready(17))
    }

    #[step(start)]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
