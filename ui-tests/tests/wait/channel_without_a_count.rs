use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID))
    }

    #[step(start)]
    async fn sell(&self, _: (), _paid: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
