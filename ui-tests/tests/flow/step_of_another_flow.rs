use dex::prelude::*;

struct Shop;

#[flow(endless)]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Bank::PAY, ()))
    }
}

struct Bank;

#[flow]
impl Bank {
    #[step(start)]
    async fn pay(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
