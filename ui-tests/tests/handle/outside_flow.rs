use dex::prelude::*;

struct Shop;

impl Shop {
    #[attribute]
    const BALANCE: Attribute<u64>;

    #[channel]
    const PAID: Channel<u64>;
}

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCE, 17)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
