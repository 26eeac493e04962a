use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(sell)]
    fn paid(&self) -> WaitResult<Self, ()> {
        let c = || Self::PAID.one();
        Ok(Wait::all((c(), c(), c(), c(), c(), c(), c(), c(), c(), c(), c(), c(), c())))
    }

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
