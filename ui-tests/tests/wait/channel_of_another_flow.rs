use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {
    #[channel]
    const PAID: Channel<u64>;
}

struct Shop;

#[flow]
impl Shop {
    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Bank::PAID.one()))
    }

    #[step(start)]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
