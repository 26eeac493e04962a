use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const PAID: Attribute<bool>;

    #[wait_for(sell)]
    fn paid(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, ()> {
        Ok(Wait::one(|| ctx.require(Self::PAID)))
    }

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
