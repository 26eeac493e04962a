use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(ship)]
    fn paid(&self, _goods: &String) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step(start)]
    async fn ship(&self, _cents: u64, _goods: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

async fn start(shop: Client<Shop>) -> dex::Result<()> {
    shop.start("lamp", String::from("a lamp")).await?;
    Ok(())
}

fn main() {}
