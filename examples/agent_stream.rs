//! A model that is heard while it speaks, and a reader that breaks off and goes on where it was.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use dex::StreamSource;
use dex::prelude::*;

/// What the model says, sentence by sentence.
const ANSWER: [&str; 3] =
    ["A durable run goes on where it was.", "Its stream keeps what was said.", "Ask again."];

struct Agent;

#[flow(output = usize)]
impl Agent {
    /// The answer as it comes. When it has 64 KiB the oldest part goes.
    #[stream(capacity = "64 KiB")]
    const ANSWERS: Stream<String>;

    /// The model hangs up once. What was said stays said, and the next attempt goes on behind it.
    #[step(start, retry(initial = "10ms"))]
    async fn answer(&self, ctx: &mut StepContext<Self>, _question: String) -> StepResult<Self> {
        let said: usize = ctx.last_checkpoint()?.unwrap_or(0);
        let mut out = ctx.text(Self::ANSWERS);
        for (number, sentence) in (1..).zip(ANSWER).skip(said) {
            for token in sentence.split_inclusive(' ') {
                out.push(token).await?;
            }
            // Without this the text is written once a second has passed or 16 KiB have come together.
            out.flush().await?;
            ctx.checkpoint(&number)?;
            if number == 2 {
                return Err(StepError::new("the model hung up"));
            }
        }
        Ok(Next::complete(ANSWER.len()))
    }
}

#[tokio::main]
async fn main() -> dex::Result<()> {
    let dex = Dex::open("./dex-data/agent_stream").flow(Agent).start().await?;
    let chat = format!("chat-{}", std::process::id());
    dex.client::<Agent>().start(&chat, "What is durable?".into()).await?;

    // A reader needs to keep one number to go on after its own process has died.
    let mut last_seen = 0;
    let run = dex.client::<Agent>().run(&chat).await?;
    if let Some(item) = run.read(Agent::ANSWERS).next().await? {
        println!("{}: {}", item.offset, item.value);
        last_seen = item.offset;
    }
    println!("the reader breaks off");

    let mut answers = run.read(Agent::ANSWERS).after(last_seen);
    while let Some(item) = answers.next().await? {
        println!("{}: {}", item.offset, item.value);
        if let StreamSource::Step { attempt: 2.., .. } = item.source {
            println!("   said in another attempt");
        }
    }
    println!("{} sentences", run.output().await?);
    dex.shutdown(std::time::Duration::from_secs(1)).await
}
