use dex::prelude::*;

struct Shop;

#[flow(timeout = "1d")]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[on_timeout]
    async fn late(&self) -> StepResult<Self> {
        Ok(Next::complete(()).cancel_siblings(Self::SELL))
    }
}

fn main() {}
