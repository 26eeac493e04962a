use dex::prelude::*;

struct Bank;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, _ctx: &mut StepContext<Bank>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
