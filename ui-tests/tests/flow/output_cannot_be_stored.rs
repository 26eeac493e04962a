use dex::prelude::*;

struct Order;

struct Shop;

#[flow(output = Order)]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }
}

fn main() {}
