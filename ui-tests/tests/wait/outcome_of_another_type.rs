use std::time::Duration;

use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::any((Self::PAID.one(), Timer::after(Duration::from_secs(1)))))
    }

    #[step(start)]
    async fn sell(&self, _order: String, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
