use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let attempt: String = ctx.attempt();
        ctx.sett(attempt);
        Ok(Next::complete(()))
    }
}

fn main() {}
