use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn both(&self) -> WaitResult<Self, (u64, u64)> {
        let paid = Self::PAID.one();
        Ok(Wait::all((paid, paid)))
    }

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
