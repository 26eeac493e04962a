use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCES: AttributeMap<String, u64>;

    #[channel]
    const PAID: ChannelMap<String, u64>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCES.at("ada"), "17")?;
        ctx.publish(Self::PAID.at("ada"), true)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
