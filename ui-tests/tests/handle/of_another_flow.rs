use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {
    #[attribute]
    const BALANCE: Attribute<u64>;

    #[channel]
    const PAID: Channel<u64>;
}

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Bank::BALANCE, 17)?;
        ctx.publish(Bank::PAID, 17)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
