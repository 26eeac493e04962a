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

async fn sell(shop: Client<Shop>) -> dex::Result<()> {
    shop.start("shop-1", ()).with(Bank::BALANCE, 17).await?;
    shop.start("shop-2", ()).publish(Bank::PAID, 17).await?;
    Ok(())
}

fn main() {}
