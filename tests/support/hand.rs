//! Flows written without the macros, for options that the macros do not have.
//!
//! All steps take `Option<u32>`, so that those that the engine starts by itself, with `()`, can be told apart.

use std::future::Future;
use std::sync::Arc;

use dex::definition::call::{RpcCall, RpcFuture, StepCall, StepFuture, WaitCall, WaitFuture};
use dex::definition::{FlowDefinition, StepDefinition};
use dex::{
    Attribute, Channel, Flow, RpcContext, RpcResult, RunHandle, Step, StepContext, StepResult, ValueError,
    Wait, WaitResult,
};

/// What a flow that is written by hand does.
pub(crate) trait Script: Sized + Send + Sync + 'static {
    /// Its description.
    const DEFINITION: &'static FlowDefinition;

    /// The step called `step`.
    fn step(
        &self,
        step: &'static str,
        ctx: &mut StepContext<Hand<Self>>,
        input: Option<u32>,
    ) -> impl Future<Output = StepResult<Hand<Self>>> + Send;

    /// The RPC called `rpc`.
    fn rpc(&self, _rpc: &'static str, _ctx: &mut RpcContext<Hand<Self>>) -> RpcResult<u32> {
        Ok(0)
    }
}

/// The flow of a script. Steps with a wait wait for one message of channel `messages`.
#[derive(Debug, Default)]
pub(crate) struct Hand<S>(pub S);

impl<S: Script> Hand<S> {
    pub(crate) const fn to(step: &'static str) -> Step<Self, Option<u32>> {
        Step::new(step)
    }

    pub(crate) const fn number(attribute: &'static str) -> Attribute<Self, u32> {
        Attribute::new(attribute)
    }

    pub(crate) const MESSAGES: Channel<Self, u32> = Channel::new("messages");
}

/// A step with a name and the defaults.
pub(crate) const fn step(name: &'static str) -> StepDefinition {
    StepDefinition { name, ..StepDefinition::DEFAULT }
}

/// The step in which runs start.
pub(crate) const fn first(name: &'static str) -> StepDefinition {
    StepDefinition { start: true, ..step(name) }
}

impl<S: Script> Flow for Hand<S> {
    type Input = Option<u32>;
    type Output = u32;
    type Run = RunHandle<Self>;

    fn definition() -> &'static FlowDefinition {
        S::DEFINITION
    }

    fn call_step(self: Arc<Self>, step: usize, mut call: StepCall<Self>) -> StepFuture {
        Box::pin(async move {
            let input = call.input()?;
            let result = self.0.step(S::DEFINITION.steps[step].name, call.context(), input).await;
            call.end(result)
        })
    }

    fn call_wait(self: Arc<Self>, _step: usize, call: WaitCall<Self>) -> WaitFuture {
        Box::pin(async move {
            let wait: WaitResult<Self, u32> = Ok(Wait::one(Self::MESSAGES.one()));
            call.end(wait)
        })
    }

    fn call_rpc(self: Arc<Self>, rpc: usize, mut call: RpcCall<Self>) -> RpcFuture {
        Box::pin(async move {
            let result = self.0.rpc(S::DEFINITION.rpcs[rpc].name, call.context());
            call.end(result)
        })
    }

    fn fits_attribute(_attribute: usize, _value: &dex::__private::Payload) -> Result<(), ValueError> {
        Ok(())
    }

    fn fits_channel(_channel: usize, _message: &dex::__private::Payload) -> Result<(), ValueError> {
        Ok(())
    }
}
