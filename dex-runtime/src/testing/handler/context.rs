//! Contexts that no engine has made.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::streams::Kept;
use crate::definition::{
    AttributeHandle, ChannelHandle, Core, Flow, Live, RpcContext, Step, StepContext, StepError, StepInfo,
    Streams, WaitContext,
};
use crate::engine::{self, ChannelState, Recovery, RunIdentity, SharedMap, View};
use crate::ids::{FlowId, Name, RunId, Slot};
use crate::signal::Signal;
use crate::store::record::ItemOrigin;
use crate::testing::clock::START;
use crate::time::{Clock, SystemClock};
use crate::value::{Payload, Value, ValueError};

/// A context that a unit test can make: those of steps, waits and RPCs.
pub trait TestContext: private::Sealed {
    /// The flow that the context belongs to.
    type Flow: Flow;
}

mod private {
    pub trait Sealed {}
}

/// What a handler is to see of its run; made by [`StepContext::test`], [`WaitContext::test`] and
/// [`RpcContext::test`].
///
/// Without further words it is the first attempt, in a run called `test` whose attributes are not set.
#[derive(Debug)]
#[must_use = "the context is made by `.build()`"]
pub struct ContextBuilder<C> {
    flow_id: FlowId,
    attributes: SharedMap<Slot, engine::Attribute>,
    channels: SharedMap<Slot, ChannelState>,
    attempt: u32,
    step: Option<Name>,
    number: u32,
    recovery: Option<Recovery>,
    checkpoint: Option<Payload>,
    canceled: bool,
    context: PhantomData<fn() -> C>,
}

impl<C: TestContext> ContextBuilder<C> {
    #[expect(clippy::expect_used, reason = "`test` is an id")]
    fn new() -> Self {
        Self {
            flow_id: FlowId::new("test").expect("`test` is an id"),
            attributes: SharedMap::new(),
            channels: SharedMap::new(),
            attempt: 1,
            step: None,
            number: 1,
            recovery: None,
            checkpoint: None,
            canceled: false,
            context: PhantomData,
        }
    }

    /// Sets what the caller called the run.
    ///
    /// # Panics
    ///
    /// If the text cannot be an id.
    #[track_caller]
    pub fn flow_id(self, flow_id: impl AsRef<str>) -> Self {
        match FlowId::new(flow_id) {
            Ok(flow_id) => Self { flow_id, ..self },
            Err(error) => panic!("{error}"),
        }
    }

    /// Gives the run an attribute.
    ///
    /// # Panics
    ///
    /// If the value cannot be stored.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in every other place that sets an attribute")]
    pub fn with<A: AttributeHandle<C::Flow>>(mut self, attribute: A, value: A::Value) -> Self {
        let (slot, value) = encoded("attribute", attribute.slot(), &value);
        self.attributes.insert(slot, engine::Attribute { value, version: 1 });
        self
    }

    /// Gives the run a message that nobody has taken; several keep their order.
    ///
    /// # Panics
    ///
    /// If the message cannot be stored.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in every other place that publishes")]
    pub fn publish<A: ChannelHandle<C::Flow>>(mut self, channel: A, message: A::Value) -> Self {
        let (slot, message) = encoded("channel", channel.slot(), &message);
        let channel = self.channels.get_or_default(&slot);
        channel.published += 1;
        channel.queue.insert(channel.published, message);
        self
    }

    fn core(&self) -> Core {
        let identity = RunIdentity {
            flow: stored(C::Flow::definition().name),
            flow_id: self.flow_id.clone(),
            run_id: RunId::from_bytes([0; 16]),
            started_at: START,
            parent: None,
        };
        Core::new(View {
            identity: Arc::new(identity),
            attributes: self.attributes.clone(),
            channels: self.channels.clone(),
        })
    }
}

impl<F: Flow> ContextBuilder<StepContext<F>> {
    /// Sets which attempt this is, from 1.
    pub fn attempt(self, attempt: u32) -> Self {
        Self { attempt, ..self }
    }

    /// Sets which step is called, and which of its executions this is, from 1: what
    /// [`execution_id`](StepContext::execution_id) and [`idempotency_key`](StepContext::idempotency_key) are
    /// made of. Without it, it is the first execution of the start step.
    pub fn execution<I>(self, step: Step<F, I>, number: u32) -> Self {
        Self { step: Some(stored(step.name())), number, ..self }
    }

    /// Makes the step recover from `step`, which has failed `attempts` times, last with `error`.
    pub fn recovery<I>(self, step: Step<F, I>, error: impl Into<StepError>, attempts: u32) -> Self {
        let (failure, _) = error.into().into_parts();
        Self { recovery: Some(Recovery { step: stored(step.name()), failure, attempts }), ..self }
    }

    /// Sets what an earlier attempt has written down with [`checkpoint`](StepContext::checkpoint).
    ///
    /// # Panics
    ///
    /// If the value cannot be stored.
    #[track_caller]
    pub fn checkpoint<T: Value>(self, value: &T) -> Self {
        match Payload::encode(value) {
            Ok(value) => Self { checkpoint: Some(value), ..self },
            Err(error) => panic!("the checkpoint: {error}"),
        }
    }

    /// Makes the step one that is [to stop](StepContext::is_cancelled).
    pub fn cancelled(self) -> Self {
        Self { canceled: true, ..self }
    }

    /// The context.
    ///
    /// # Panics
    ///
    /// If the flow has no step.
    #[track_caller]
    #[expect(clippy::expect_used, reason = "a step is called, so the flow has one")]
    pub fn build(self) -> StepContext<F> {
        let (core, definition) = (self.core(), F::definition());
        let first = || definition.start().or(definition.steps.first()).map(|step| stored(step.name));
        let step = self.step.or_else(first).expect("a flow with a step");
        let (number, attempt, recovery) = (self.number, self.attempt, self.recovery);
        let origin = ItemOrigin::Step { step: step.clone(), number, attempt };
        let live = live(self.canceled, self.checkpoint, origin);
        StepContext::new(core, StepInfo { step, number, attempt, recovery, live, key: OnceLock::new() })
    }
}

impl<F: Flow> ContextBuilder<WaitContext<F>> {
    /// Sets which attempt this is, from 1.
    pub fn attempt(self, attempt: u32) -> Self {
        Self { attempt, ..self }
    }

    /// The context.
    pub fn build(self) -> WaitContext<F> {
        WaitContext::new(self.core(), self.attempt)
    }
}

impl<F: Flow> ContextBuilder<RpcContext<F>> {
    /// The context.
    pub fn build(self) -> RpcContext<F> {
        RpcContext::new(self.core())
    }
}

/// A slot and its encoded value, for a test that is to fail if there is no such thing.
#[track_caller]
fn encoded<T: Value>(what: &str, slot: Result<Slot, ValueError>, value: &T) -> (Slot, Payload) {
    let slot = match slot {
        Ok(slot) => slot,
        Err(error) => panic!("{error}"),
    };
    match Payload::encode(value) {
        Ok(value) => (slot, value),
        Err(error) => panic!("{what} `{slot}`: {error}"),
    }
}

/// What connects a step with no engine: checkpoints are kept nowhere, and items for the test.
fn live(canceled: bool, checkpoint: Option<Payload>, origin: ItemOrigin) -> Live {
    let signal = Arc::new(Signal::default());
    if canceled {
        signal.tell();
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let streams = Streams::new(Kept::new(origin), &clock, clock.now());
    Live { signal, streams, checkpoint }
}

#[expect(clippy::expect_used, reason = "the macros check the names that they write")]
fn stored(name: &str) -> Name {
    Name::new(name).expect("the macros check the names that they write")
}

macro_rules! test_context {
    ($context:ident, $what:literal) => {
        impl<F> private::Sealed for $context<F> {}

        impl<F: Flow> TestContext for $context<F> {
            type Flow = F;
        }

        impl<F: Flow> $context<F> {
            #[doc = concat!("A context to call ", $what, " with in a unit test; see [`testing`](crate::testing).")]
            pub fn test() -> ContextBuilder<Self> {
                ContextBuilder::new()
            }
        }
    };
}

test_context!(StepContext, "a step");
test_context!(WaitContext, "a `wait_for`");
test_context!(RpcContext, "an RPC");
