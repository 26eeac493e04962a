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
        ctx.publish(Self::BALANCE, 17)?;
        ctx.set(Self::PAID, 17)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
