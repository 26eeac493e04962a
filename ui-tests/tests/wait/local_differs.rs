use std::time::Duration;

use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[wait_for(sell)]
    fn pause(&self) -> WaitResult<Self, (TimerFired, String)> {
        Ok(Wait::one(Timer::after(Duration::from_secs(1))).with(17))
    }

    #[step(start)]
    async fn sell(&self, _order: String, _outcome: (TimerFired, String)) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
