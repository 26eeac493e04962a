use dex::prelude::*;

#[derive(serde::Serialize)]
struct Order;

struct Shop;

#[flow]
impl Shop {
    #[step(entry)]
    async fn sell(&self, _orders: Vec<Order>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
