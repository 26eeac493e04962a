use dex::prelude::*;

struct Chat;

#[flow]
impl Chat {
    #[stream]
    const TOKENS: Stream<String>;

    #[wait_for(answer)]
    fn pause(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        ctx.append(Self::TOKENS, "waiting".to_owned())?;
        Ok(Wait::ready(()))
    }

    #[step(start)]
    async fn answer(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn say(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.text(Self::TOKENS);
        Ok(())
    }
}

fn main() {}
