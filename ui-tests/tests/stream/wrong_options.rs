use dex::prelude::*;

struct Chat;

#[flow]
impl Chat {
    #[stream(capasity = "1 MiB")]
    const MISSPELT: Stream<String>;
    #[stream(capacity = "1 MiB", capacity = "2 MiB")]
    const TWICE: Stream<String>;
    #[stream(capacity = 1024)]
    const A_NUMBER: Stream<String>;
    #[stream(alias = "A_NUMBER")]
    const TAKEN: Stream<String>;

    #[step(start)]
    async fn answer(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
