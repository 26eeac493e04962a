use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[step(start)]
    async fn buy(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn start<F: Flow>(_input: F::Input) {}

fn use_it() {
    start::<Shop>(());
}

fn main() {}
