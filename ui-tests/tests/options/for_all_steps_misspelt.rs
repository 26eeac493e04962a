use dex::prelude::*;

struct Shop;

#[flow(steps(timout = "30s", lock(BALANCE), retry(attempt = 3)))]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
