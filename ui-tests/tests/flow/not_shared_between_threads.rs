use dex::prelude::*;

struct Shop {
    counter: std::cell::Cell<u32>,
}

#[flow]
impl Shop {
    #[step(start)]
    fn sell(&self) -> StepResult<Self> {
        self.counter.set(1);
        Ok(Next::to(Self::SHIP, ()))
    }

    #[wait_for(ship)]
    async fn paid(&self) -> WaitResult<Self, u32> {
        Ok(Wait::ready(self.counter.get()))
    }

    #[step]
    async fn ship(&self, _: (), _cents: u32) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn count(&self) -> RpcResult<u32> {
        Ok(self.counter.get())
    }
}

fn main() {}
