use dex::prelude::*;

struct Shop;

#[flow]
impl Clone for Shop {
    fn clone(&self) -> Self {
        Self
    }
}

struct Bank;

trait Pays {
    async fn pay(&self) -> StepResult<Bank>;
}

#[flow]
impl Pays for Bank {
    #[step(start)]
    async fn pay(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
