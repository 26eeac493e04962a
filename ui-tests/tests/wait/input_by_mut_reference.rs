use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn paid(&self, _goods: &mut String) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step(start)]
    async fn sell(&self, _goods: String, _paid: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
