use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step(start)]
    async fn ship(&self, _order: String, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
