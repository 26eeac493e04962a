use dex::prelude::*;

struct Bank;

#[flow(output = u64)]
impl Bank {
    #[step(start)]
    async fn pay(&self, amount: u64) -> StepResult<Self> {
        Ok(Next::complete(amount))
    }
}

struct Shop;

#[flow]
impl Shop {
    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, ChildResult<Bank>> {
        Ok(Wait::one(SubFlow::<Bank>::run(4200)))
    }

    #[step(start)]
    async fn ship(&self, _input: (), paid: ChildResult<Bank>) -> StepResult<Self> {
        let _receipt: String = paid.into_result()?;
        Ok(Next::complete(()))
    }
}

fn main() {}
