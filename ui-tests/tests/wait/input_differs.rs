use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(ship)]
    fn paid(&self, _order: &u64) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step(start)]
    async fn ship(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
