use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Attribute<u64>;

    #[channel]
    const PAID: Channel<u64>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCE.at("ada"), 17)?;
        let _ = ctx.keys(Self::PAID)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
