//! A flow may be private: its run is as visible as the flow.

use dex::prelude::*;

struct Hello;

#[flow(output = String)]
impl Hello {
    #[step(start)]
    async fn greet(&self) -> StepResult<Self> {
        Ok(Next::complete("Hello, world!".to_owned()))
    }

    #[rpc]
    async fn name(&self, _ctx: &RpcContext<Self>) -> RpcResult<String> {
        Ok("world".to_owned())
    }
}

async fn ask(run: &<Hello as dex::Flow>::Run) -> dex::Result<String> {
    run.name().await
}

fn main() {
    let _ = (Hello, ask);
}
