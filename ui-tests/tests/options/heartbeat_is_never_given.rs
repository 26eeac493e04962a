use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, heartbeat = "10s")]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }

    #[step(heartbeat = "20s")]
    async fn ship(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        Ok(Next::fail(ctx.execution_id()))
    }
}

fn main() {}
