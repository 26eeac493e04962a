use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, _order: String, _paid: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
