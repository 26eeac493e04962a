use dex::prelude::*;

struct Chat;

#[flow]
impl Chat {
    #[stream]
    const TOKENS: Stream<String>;
    #[stream]
    const COUNTS: Stream<u32>;
    #[channel]
    const QUESTIONS: Channel<String>;

    #[step(start)]
    async fn answer(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.publish(Self::TOKENS, "a".to_owned())?;
        ctx.set(Self::TOKENS, "a".to_owned())?;
        ctx.append(Self::QUESTIONS, "a".to_owned())?;
        ctx.append(Self::COUNTS, "a")?;
        ctx.text(Self::COUNTS);
        Ok(Next::complete(()))
    }
}

fn main() {}
