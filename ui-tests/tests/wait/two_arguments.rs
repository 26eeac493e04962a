use std::time::Duration;

use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn paid(&self) -> WaitResult<Self, OneOf2<u64, TimerFired>> {
        Ok(Wait::any(Self::PAID.one(), Timer::after(Duration::from_secs(1))))
    }

    #[step(start)]
    async fn sell(&self, _: (), _paid: OneOf2<u64, TimerFired>) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }

    #[wait_for(ship)]
    fn paid_twice(&self) -> WaitResult<Self, (u64, u64)> {
        Ok(Wait::one(Self::PAID.one(), Self::PAID.one()))
    }

    #[step]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
