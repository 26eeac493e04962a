use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        let price = std::rc::Rc::new(17);
        std::future::ready(()).await;
        drop(price);
        Ok(Next::complete(()))
    }
}

fn main() {}
