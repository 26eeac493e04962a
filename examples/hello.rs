//! One step, a start, an output. Each run of this program makes one more durable run in `./dex-data/hello`.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use dex::prelude::*;

struct Hello;

#[flow(output = String)]
impl Hello {
    #[step(start)]
    async fn greet(&self) -> StepResult<Self> {
        Ok(Next::complete("Hello, world!".to_owned()))
    }
}

#[tokio::main]
async fn main() -> dex::Result<()> {
    let dex = Dex::open("./dex-data/hello").flow(Hello).start().await?;
    println!("{}", dex.client::<Hello>().start(std::process::id().to_string(), ()).await?.output().await?);
    dex.shutdown(std::time::Duration::from_secs(1)).await
}
