//! Raw identifiers lose their mark in stored names and constants.

use dex::prelude::*;

#[allow(non_camel_case_types)]
struct r#type {}

#[flow]
#[allow(non_upper_case_globals)]
impl r#type {
    #[attribute]
    const r#static: Attribute<bool>;

    #[channel]
    const r#async: Channel<u8>;

    #[step(start)]
    async fn r#match(&self) -> StepResult<Self> {
        Ok(Next::to(Self::LOOP, 1))
    }

    #[wait_for(r#loop)]
    fn r#while(&self, r#in: &u8) -> WaitResult<Self, u8> {
        Ok(Wait::ready(*r#in))
    }

    #[step(on_failure = r#loop)]
    async fn r#loop(&self, r#in: u8, r#for: u8) -> StepResult<Self> {
        let _ = (r#in, r#for);
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn r#move(&self, r#type: u8) -> RpcResult<u8> {
        Ok(r#type)
    }
}

#[derive(Keyword)]
#[allow(non_camel_case_types)]
enum Status {
    r#final,
}

async fn call(run: &<r#type as Flow>::Run) -> dex::Result<u8> {
    run.r#move(1).await
}

fn main() {
    let definition = r#type::definition();
    assert_eq!(definition.name, "type");
    assert_eq!(definition.attributes[0].name, "static");
    assert_eq!(definition.channels[0].name, "async");
    assert_eq!(definition.start().unwrap().name, "match");
    assert_eq!(definition.start().unwrap().edges[0].to, "loop");
    assert_eq!(definition.steps[1].wait.as_ref().unwrap().method, "while");
    assert_eq!(definition.rpcs[0].name, "move");
    assert_eq!(r#type::LOOP.name(), "loop");
    assert_eq!(Status::r#final.keyword(), "final");
    let _ = call;
}
