use dex::prelude::*;

struct Order;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, _order: Order) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
