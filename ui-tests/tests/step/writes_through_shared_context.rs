use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const SOLD: Attribute<u64>;

    #[step(start)]
    async fn sell(&self, ctx: &StepContext<Self>) -> StepResult<Self> {
        let sold = ctx.get(Self::SOLD)?.unwrap_or_default();
        ctx.set(Self::SOLD, sold + 1)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
