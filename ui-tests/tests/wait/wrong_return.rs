use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[wait_for(ship)]
    fn paid(&self) -> u64 {
        17
    }

    #[step(start)]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
