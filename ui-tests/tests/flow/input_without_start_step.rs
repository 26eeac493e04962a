use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step]
    async fn sell(&self, _order: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn start<F: Flow>(_input: F::Input) {}

fn use_it() {
    start::<Shop>(String::new());
}

fn main() {}
