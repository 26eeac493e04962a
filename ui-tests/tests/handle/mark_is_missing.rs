use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    pub const BALANCE: Attribute<u64>;

    const PAID: Channel<u64>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCE, 17)?;
        ctx.publish(Self::PAID, 17)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
