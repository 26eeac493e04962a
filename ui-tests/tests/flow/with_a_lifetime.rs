use dex::prelude::*;

struct Shop<'a>(&'a str);

#[flow]
impl Shop<'_> {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

struct Count<const N: usize>;

#[flow]
impl Count<3> {
    #[step(start)]
    async fn count(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
