use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }

    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step]
    async fn ship(&self, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
