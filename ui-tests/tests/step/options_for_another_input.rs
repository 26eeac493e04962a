use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, cents: u64) -> StepResult<Self> {
        let patient: StepOptions<Self, String> = StepOptions::new().attempts(20);
        Ok(Next::to_with(Self::SHIP, cents, patient))
    }

    #[step]
    async fn ship(&self, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
