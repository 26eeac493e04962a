use dex::prelude::*;

struct Shop {
    counter: std::cell::Cell<u32>,
}

#[flow]
impl Shop {
    #[step(start)]
    fn sell(&self) -> StepResult<Self> {
        self.counter.set(1);
        Ok(Next::complete(()))
    }
}

fn main() {}
