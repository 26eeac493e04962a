use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel]
    const PAID: Channel<u64>;

    #[wait_for(ship)]
    fn paid(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, u64> {
        ctx.publish(Self::PAID, 17)?;
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step(start)]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
