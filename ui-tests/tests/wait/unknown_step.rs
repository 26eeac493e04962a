use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(shipp)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step(start)]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
