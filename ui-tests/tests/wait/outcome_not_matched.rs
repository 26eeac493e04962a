use std::time::Duration;

use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn paid(&self) -> WaitResult<Self, OneOf2<u64, TimerFired>> {
        Ok(Wait::any((Self::PAID.one(), Timer::after(Duration::from_secs(1)))))
    }

    #[step(start)]
    async fn sell(&self, _: (), paid: OneOf2<u64, TimerFired>) -> StepResult<Self> {
        match paid {
            OneOf2::First(_cents) => Ok(Next::complete(())),
        }
    }
}

fn main() {}
