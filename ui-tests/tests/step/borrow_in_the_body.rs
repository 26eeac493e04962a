use dex::prelude::*;

struct Shop {
    goods: Vec<String>,
}

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self, order: String) -> StepResult<Self> {
        let moved = order;
        self.goods.push(order);
        Ok(Next::fail(moved))
    }
}

fn main() {}
