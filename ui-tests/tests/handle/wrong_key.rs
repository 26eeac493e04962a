use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const SCORES: AttributeMap<String, u32>;

    #[channel]
    const ORDERS: ChannelMap<u64, String>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::SCORES.at(&17), 17)?;
        ctx.publish(Self::ORDERS.at("17"), "book".into())?;
        Ok(Next::complete(()))
    }
}

fn main() {}
