use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> String {
        String::new()
    }

    #[step(entry)]
    async fn ship(&self) -> StepResult<Bank> {
        Ok(Next::complete(()))
    }
}

struct Bank;

#[flow]
impl Bank {}

fn main() {}
