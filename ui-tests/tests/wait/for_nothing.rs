use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn none(&self) -> WaitResult<Self, ()> {
        Ok(Wait::all(()))
    }

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
