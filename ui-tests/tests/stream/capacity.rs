use dex::prelude::*;

struct Chat;

#[flow]
impl Chat {
    #[stream(capacity = "0 KiB")]
    const NOTHING: Stream<String>;
    #[stream(capacity = "65 MiB")]
    const TOO_LARGE: Stream<String>;
    #[stream(capacity = "64")]
    const NO_UNIT: Stream<String>;
    #[stream(capacity = "64 KB")]
    const TWO_MEANINGS: Stream<String>;

    #[step(start)]
    async fn answer(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
