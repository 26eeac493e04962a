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
    fn paid(&self, _ctx: &WaitContext<Self>, orders: &Vec<String>) -> WaitResult<Self, Vec<ChildResult<Bank>>> {
        Ok(Wait::all(orders.iter().cloned().map(SubFlow::<Bank>::run).collect::<Vec<_>>()))
    }

    #[step(start)]
    async fn ship(&self, _orders: Vec<String>, _paid: Vec<ChildResult<Bank>>) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
