use dex::prelude::*;

struct Shop<T>(T);

#[flow]
impl<T> Shop<T> {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
