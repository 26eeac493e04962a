use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const STOCK: AttributeMap<String, u64>;

    #[step(start, lock(STOCK))]
    async fn open(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let sum: u64 = ctx.entries(Self::STOCK)?.into_iter().map(|(_, count)| count).sum();
        ctx.set(Self::STOCK.at("all"), sum)?;
        Ok(Next::to(Self::TAKE, "pens".into()).and(Self::CLEAR, "cups".into()))
    }

    #[step]
    async fn take(&self, ctx: &mut StepContext<Self>, goods: String) -> StepResult<Self> {
        ctx.set(Self::STOCK.at(&goods), 0)?;
        Ok(Next::complete(()))
    }

    #[step]
    async fn clear(&self, ctx: &mut StepContext<Self>, goods: String) -> StepResult<Self> {
        ctx.delete(&Self::STOCK.at(&goods))?;
        Ok(Next::dead_end())
    }
}

fn main() {}
