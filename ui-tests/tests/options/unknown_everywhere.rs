use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[channel(index)]
    const PAID: Channel<u64>;

    #[wait_for(sell, ship)]
    fn paid(&self) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::PAID.one()))
    }

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_timeout(entry)]
    async fn late(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[on_cancel(nmae = "take back")]
    async fn undo(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[derive(Keyword)]
#[keyword(name = "state")]
enum Status {
    Open,
}

fn main() {}
