use dex::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Order;

struct Shop;

#[flow(schemas)]
impl Shop {
    #[attribute]
    const LAST: Attribute<Order>;

    #[step(start)]
    async fn sell(&self, order: Order) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, order))
    }

    #[step]
    async fn ship(&self, _order: Order) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn last(&self) -> RpcResult<Option<Order>> {
        Ok(None)
    }
}

fn main() {}
