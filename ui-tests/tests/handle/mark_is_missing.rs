use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    pub const BALANCE: Attribute<u64>;

    const PAID: Channel<u64>;

    const SCORES: AttributeMap<String, u64>;

    pub(crate) const ORDERS: dex::ChannelMap<u64, String>;

    const WORDS: Stream<String>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCE, 17)?;
        ctx.publish(Self::PAID, 17)?;
        ctx.set(Self::SCORES.at("ada"), 17)?;
        ctx.publish(Self::ORDERS.at(&17), "book".into())?;
        ctx.append(Self::WORDS, "sold".into())?;
        Ok(Next::complete(()))
    }
}

fn main() {}
