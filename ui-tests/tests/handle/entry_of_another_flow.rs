use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {
    #[attribute]
    const BALANCES: AttributeMap<String, u64>;

    #[channel]
    const PAID: ChannelMap<String, u64>;
}

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Bank::BALANCES.at("ada"), 17)?;
        ctx.publish(Bank::PAID.at("ada"), 17)?;
        let _ = ctx.keys(Bank::PAID)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
