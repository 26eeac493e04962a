use dex::prelude::*;

struct Bank;

struct Shop;

#[flow]
impl Shop {
    #[wait_for(ship)]
    fn paid(&self) -> WaitResult<Self, TimerFired> {
        let _paid = SubFlow::<Bank>::run(4200);
        Ok(Wait::one(Timer::after(std::time::Duration::from_secs(1))))
    }

    #[step(start)]
    async fn ship(&self, _input: (), _paid: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
