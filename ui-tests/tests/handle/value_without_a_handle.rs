use std::collections::HashMap;

use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const LEFT: u64;

    #[attribute]
    const STOCK: HashMap<String, u64>;

    #[channel]
    const ORDERS: Vec<String>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::LEFT, 1)?;
        ctx.set(Self::STOCK, HashMap::new())?;
        ctx.publish(Self::ORDERS, vec!["lamp".into()])?;
        Ok(Next::complete(()))
    }
}

fn main() {}
