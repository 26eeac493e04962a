use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Attribute<u64>;

    #[step(start)]
    async fn open(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCE, 0)?;
        Ok(Next::to(Self::PAY, 1).and(Self::REFUND, 1))
    }

    #[step(lock(BALANCE))]
    async fn pay(&self, ctx: &mut StepContext<Self>, cents: u64) -> StepResult<Self> {
        let balance = ctx.get(Self::BALANCE)?.unwrap_or_default();
        ctx.set(Self::BALANCE, balance + cents)?;
        Ok(Next::complete(()))
    }

    #[step]
    async fn refund(&self, ctx: &mut StepContext<Self>, cents: u64) -> StepResult<Self> {
        let balance = ctx.get(Self::BALANCE)?.unwrap_or_default();
        ctx.set(Self::BALANCE, balance - cents)?;
        Ok(Next::complete(()))
    }
}

fn main() {}
