use dex::prelude::*;

struct Chat;
struct Other;

#[flow]
impl Other {
    #[stream]
    pub const LOG: Stream<String>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[flow]
impl Chat {
    #[step(start)]
    async fn answer(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.append(Other::LOG, "a".to_owned())?;
        Ok(Next::complete(()))
    }
}

async fn read(run: dex::Run<Chat>) {
    run.read(Other::LOG);
}

fn main() {}
