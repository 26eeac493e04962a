use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {
    #[attribute]
    pub const BALANCE: Attribute<u64>;

    #[channel]
    pub const PAID: Channel<u64>;

    #[step(start)]
    async fn pay(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()).cancel(Bank::PAY))
    }

    #[step(entry)]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()).cancel_siblings(Bank::PAY))
    }
}

fn main() {}
