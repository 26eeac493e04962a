use dex::prelude::*;

struct Shop;

#[flow(steps(timeout = "90s", heartbeat = "10s", retry(initial = "20s", max_interval = "1h 30m")))]
impl Shop {
    #[step(start, heartbeat = "2m")]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, ()))
    }

    #[step(timeout = "5s")]
    async fn ship(&self) -> StepResult<Self> {
        Ok(Next::to(Self::BILL, ()))
    }

    #[step(retry(max_interval = "10s"))]
    async fn bill(&self) -> StepResult<Self> {
        Ok(Next::to(Self::THANK, ()))
    }

    #[step(timeout = none, heartbeat = "2m", retry(initial = "2h"))]
    async fn thank(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
