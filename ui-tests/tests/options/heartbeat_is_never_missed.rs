use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start, timeout = "10s", heartbeat = "10s")]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.heartbeat();
        Ok(Next::complete(()))
    }
}

fn main() {}
