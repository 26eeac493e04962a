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
impl Shop {}

async fn ask(shop: dex::Run<Shop>) -> dex::Result<()> {
    shop.get(Bank::BALANCE).await?;
    shop.publish(Bank::PAID, 17).await?;
    shop.wait_for_step(Bank::PAY, 1).await
}

fn main() {}
