#![deny(unused_must_use)]
use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Next::<Self>::complete(());
        Ok(Next::dead_end())
    }
}

fn main() {}
