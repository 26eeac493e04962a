use dex::prelude::*;

struct Bank;

#[flow]
impl Bank {
    #[step(start)]
    async fn pay(&self, _amount: u64) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

struct Shop;

#[flow]
impl Shop {
    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, ChildResult<Bank>> {
        Ok(Wait::one(SubFlow::<Bank>::run("4200")))
    }

    #[step(start)]
    async fn ship(&self, _input: (), _paid: ChildResult<Bank>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
