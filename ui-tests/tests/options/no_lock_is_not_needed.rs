use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const BALANCE: Attribute<u64>;

    #[attribute]
    const OWNER: Attribute<String>;

    #[step(start, no_lock(BALANCE))]
    async fn open(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCE, 0)?;
        Ok(Next::to(Self::PAY, 1).and(Self::AUDIT, ()))
    }

    #[step(lock(BALANCE), no_lock(BALANCE))]
    async fn pay(&self, ctx: &mut StepContext<Self>, cents: u64) -> StepResult<Self> {
        let balance = ctx.get(Self::BALANCE)?.unwrap_or_default();
        ctx.set(Self::BALANCE, balance + cents)?;
        Ok(Next::complete(()))
    }

    #[step(no_lock(BALANCE, OWNER))]
    async fn audit(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::OWNER, "the bank".into())?;
        Ok(Next::dead_end())
    }
}

fn main() {}
