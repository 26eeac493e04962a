use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[wait_for(sell)]
    fn paid(&self, _order: &String, _more: &u64) -> WaitResult<Self, u64> {
        Ok(Wait::ready(17))
    }

    #[wait_for(ship)]
    fn packed<T>(_order: &String) {}

    #[step(start)]
    async fn sell(&self, _order: String) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, String::new()))
    }

    #[step]
    async fn ship(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
