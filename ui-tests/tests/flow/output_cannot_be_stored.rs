use dex::prelude::*;

struct Order;

struct Shop;

#[flow(output = Order, endless)]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }
}

fn main() {}
