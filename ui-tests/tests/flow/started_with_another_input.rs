use dex::prelude::*;

struct Order;

#[flow]
impl Order {
    #[step(start)]
    async fn charge(&self, _cents: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

async fn start(client: Client<Order>) -> dex::Result<()> {
    client.start("order-17", "4200").await.map(drop)
}

fn main() {}
