use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[wait_for(sell)]
    fn paid(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(start)]
    async fn sell(&self, _: (), _paid: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
