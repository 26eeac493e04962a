use dex::prelude::*;

struct Chat;
struct Token;

#[flow]
impl Chat {
    #[stream]
    const TOKENS: Stream<Token>;

    #[step(start)]
    async fn answer(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
