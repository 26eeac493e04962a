//! What the benchmarks share: a flow of trivial steps, written without the macros, and the floors.

// Each benchmark is a program of its own and uses a part of this.
#![allow(dead_code, reason = "each benchmark uses a part of this")]

pub(crate) mod floor;

use std::sync::Arc;

use dex_runtime::definition::call::{RpcCall, RpcFuture, StepCall, StepFuture, WaitCall, WaitFuture};
use dex_runtime::definition::{Flow, FlowDefinition, Next, Step, StepDefinition};
use dex_runtime::{Payload, RunHandle, ValueError};
use serde::{Deserialize, Serialize};

/// A run of so many trivial steps, each with a payload of about 200 bytes of JSON.
#[derive(Debug)]
pub(crate) struct Steps;

/// What is passed from step to step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Steps that are still to come.
    pub(crate) left: u32,
    /// What makes it 200 bytes.
    pub(crate) filler: String,
}

impl Load {
    /// The load of a run of `steps` steps.
    pub(crate) fn new(steps: u32) -> Self {
        Self { left: steps - 1, filler: "x".repeat(175) }
    }
}

const STEP: Step<Steps, Load> = Step::new("step");

static DEFINITION: FlowDefinition = FlowDefinition {
    name: "Steps",
    output: "u32",
    steps: &[StepDefinition { name: "step", input: "Load", start: true, ..StepDefinition::DEFAULT }],
    ..FlowDefinition::DEFAULT
};

impl Flow for Steps {
    type Input = Load;
    type Output = u32;
    type Run = RunHandle<Self>;

    fn definition() -> &'static FlowDefinition {
        &DEFINITION
    }

    fn call_step(self: Arc<Self>, _step: usize, call: StepCall<Self>) -> StepFuture {
        Box::pin(async move {
            let mut load: Load = call.input()?;
            let next = if load.left == 0 {
                Next::complete(0)
            } else {
                load.left -= 1;
                Next::to(STEP, load)
            };
            call.end(Ok(next))
        })
    }

    fn call_wait(self: Arc<Self>, _step: usize, _call: WaitCall<Self>) -> WaitFuture {
        unreachable!("the flow has no waits")
    }

    fn call_rpc(self: Arc<Self>, _rpc: usize, _call: RpcCall<Self>) -> RpcFuture {
        unreachable!("the flow has no RPCs")
    }

    fn fits_attribute(_attribute: usize, _value: &Payload) -> Result<(), ValueError> {
        Ok(())
    }

    fn fits_channel(_channel: usize, _message: &Payload) -> Result<(), ValueError> {
        Ok(())
    }
}
