use dex::prelude::*;

struct Chat;

#[flow]
impl Chat {
    #[stream]
    const TOKENS: Channel<String>;
    #[attribute]
    const WORDS: Stream<String>;
    #[stream]
    const BARE: Stream;

    #[step(start)]
    async fn answer(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
