//! Types and modules of the user that are named like those which generated code needs.
#![allow(dead_code, non_camel_case_types)]

use dex::prelude::*;
use serde::{Deserialize, Serialize};

macro_rules! names {
    ($($name:ident)*) => { $(#[derive(Clone, Debug, Serialize, Deserialize)] pub struct $name;)* };
}

names!(Box Result Option String Vec Pin Arc Future Some None Ok Err Send Sync Self_ Duration Deref From);
names!(RunHandle StepCall Value Step_ __DexOther);

mod core {}
mod std {}
mod alloc {}

macro_rules! vec {
    () => {};
}
macro_rules! format {
    () => {};
}

fn drop() {
    vec!();
    format!();
}

struct Shop;

#[flow(output = Box)]
impl Shop {
    #[attribute]
    const BOX: Attribute<Box>;

    #[channel]
    const OPTION: Channel<Option>;

    #[step(start, timeout = "10s", retry(initial = "1s", factor = 2, max_interval = "1m", attempts = 3, total = "1h"))]
    async fn definition(&self, _ctx: &mut StepContext<Self>, _input: String) -> StepResult<Self> {
        StepResult::Ok(Next::to(Self::CALL_STEP, Vec))
    }

    #[wait_for(call_step)]
    fn call_wait(&self, _input: &Vec) -> WaitResult<Self, Option> {
        WaitResult::Ok(Wait::one(Self::OPTION.one()))
    }

    #[step(on_failure = call_step)]
    fn call_step(&self, _input: Vec, _outcome: Option) -> StepResult<Self> {
        StepResult::Ok(Next::complete(Box))
    }

    #[rpc]
    fn call_rpc(&self, _input: Pin) -> RpcResult<Result> {
        RpcResult::Ok(Result)
    }

    #[rpc]
    fn call(&self, _input: Arc) -> RpcResult<Ok> {
        RpcResult::Ok(Ok)
    }
}

fn main() {
    assert_eq!(<Shop as Flow>::definition().rpcs.len(), 2);
}
