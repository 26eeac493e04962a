use dex::prelude::*;

use std::time::Duration;

struct Shop;

#[flow]
impl Shop {
    #[wait_for(sell)]
    fn pause(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(Duration::from_secs(1))))
    }

    #[step(start)]
    async fn sell(&self, _order: String, _paid: OneOf2<String, TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
