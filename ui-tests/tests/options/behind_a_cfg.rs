use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[cfg_attr(all(), step(start))]
    async fn sell(&self, #[cfg(all())] _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step]
    async fn ship(&self, #[cfg(all())] _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
