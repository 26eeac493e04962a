//! Contexts that no engine has made.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::streams::Kept;
use crate::definition::{
    AttributeHandle, CallInfo, ChannelHandle, Core, Flow, Live, RpcContext, Step, StepContext,
    StepDefinition, StepError, StepInfo, StepSource, Streams, WaitContext, WaitInfo,
};
use crate::engine::{self, ChannelState, Recovery, RunIdentity, SharedMap, Source, StepId, View};
use crate::ids::{ExecutionNo, FlowId, Name, RunId, Slot};
use crate::signal::Signal;
use crate::store::record::ItemOrigin;
use crate::testing::clock::START;
use crate::time::{Clock, SystemClock, Timestamp};
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
    started_at: Timestamp,
    attempt: u32,
    first_attempt_at: Option<Timestamp>,
    step: Option<Name>,
    number: u32,
    source: Option<(Source, Option<StepId>)>,
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
            started_at: START,
            attempt: 1,
            first_attempt_at: None,
            step: None,
            number: 1,
            source: None,
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

    /// Sets when the run was started. Without it, that is when the clock of a [`TestEngine`](crate::testing::TestEngine)
    /// starts.
    pub fn started_at(self, at: Timestamp) -> Self {
        Self { started_at: at, ..self }
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
            started_at: self.started_at,
            parent: None,
        };
        Core::new(View {
            identity: Arc::new(identity),
            attributes: self.attributes.clone(),
            channels: self.channels.clone(),
        })
    }
}

macro_rules! of_call {
    ($context:ident) => {
        impl<F: Flow> ContextBuilder<$context<F>> {
            /// Sets which attempt this is, from 1.
            pub fn attempt(self, attempt: u32) -> Self {
                Self { attempt, ..self }
            }

            /// Sets when the first attempt of this call started. Without it, that is when the run did.
            pub fn first_attempt_at(self, at: Timestamp) -> Self {
                Self { first_attempt_at: Some(at), ..self }
            }

            /// Sets of which step this is the call, and which of its executions this is, from 1: what
            #[doc = concat!("[`execution_id`](", stringify!($context), "::execution_id) is made of.")]
            /// Without it, it is the first execution of the first step that is called like this.
            pub fn execution<I>(self, step: Step<F, I>, number: u32) -> Self {
                Self { step: Some(stored(step.name())), number, ..self }
            }

            /// Sets what scheduled the execution; without it, it is the start of the run, or the failure that the
            /// step recovers from.
            ///
            /// # Panics
            ///
            /// If the step execution in it is not written as `<step>-<n>`, or the RPC has no possible name.
            #[track_caller]
            pub fn source(self, source: StepSource) -> Self {
                Self { source: Some(untold(source)), ..self }
            }

            /// Makes the step recover from `step`, which has failed `attempts` times, last with `error`.
            pub fn recovery<I>(self, step: Step<F, I>, error: impl Into<StepError>, attempts: u32) -> Self {
                Self { recovery: Some(recovery(step.name(), error.into(), attempts, true)), ..self }
            }

            /// As [`recovery`](Self::recovery), from the `wait_for` of `step`: the step itself was not called.
            pub fn recovery_of_wait<I>(
                self,
                step: Step<F, I>,
                error: impl Into<StepError>,
                attempts: u32,
            ) -> Self {
                Self { recovery: Some(recovery(step.name(), error.into(), attempts, false)), ..self }
            }

            #[doc = concat!("Makes the call one that is [to stop](", stringify!($context), "::is_cancelled).")]
            pub fn cancelled(self) -> Self {
                Self { canceled: true, ..self }
            }

            #[track_caller]
            fn call(&mut self, default: impl FnOnce() -> Option<&'static StepDefinition>) -> CallInfo {
                let recovers_from = self.recovery.as_ref().map(|recovery| {
                    let failed = StepId { step: recovery.step.clone(), number: 1 };
                    (Source::Recovery(UNNUMBERED), Some(failed))
                });
                let (source, source_id) = self.source.take().or(recovers_from).unwrap_or((Source::Start, None));
                let step = self.step.take().or_else(|| default().map(|step| stored(step.name)));
                CallInfo {
                    step: step.expect("a flow with a step"),
                    number: self.number,
                    attempt: self.attempt,
                    first_attempt_at: self.first_attempt_at.unwrap_or(self.started_at),
                    source,
                    source_id,
                    recovery: self.recovery.take(),
                }
            }
        }
    };
}

of_call!(StepContext);
of_call!(WaitContext);

/// The number of an execution of which only the id is known.
const UNNUMBERED: ExecutionNo = ExecutionNo(0);

/// What an engine would have kept of a source.
#[track_caller]
fn untold(source: StepSource) -> (Source, Option<StepId>) {
    let id = |text: &str| {
        let parts =
            text.rsplit_once('-').and_then(|(step, n)| Some((Name::new(step).ok()?, n.parse().ok()?)));
        let Some((step, number)) = parts else { panic!("`{text}` is no step execution: write `<step>-<n>`") };
        Some(StepId { step, number })
    };
    match source {
        StepSource::Start => (Source::Start, None),
        StepSource::Step(execution) => (Source::Step(UNNUMBERED), id(&execution)),
        StepSource::Recovery(execution) => (Source::Recovery(UNNUMBERED), id(&execution)),
        StepSource::Timeout => (Source::Timeout, None),
        StepSource::Cancel => (Source::Cancel, None),
        StepSource::Rpc(rpc) => match Name::new(&rpc) {
            Ok(rpc) => (Source::Rpc(rpc), None),
            Err(error) => panic!("{error}"),
        },
    }
}

impl<F: Flow> ContextBuilder<StepContext<F>> {
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

    /// The context.
    ///
    /// # Panics
    ///
    /// If the flow has no step.
    #[track_caller]
    pub fn build(mut self) -> StepContext<F> {
        let call = self.call(|| F::definition().start().or(F::definition().steps.first()));
        let CallInfo { step, number, attempt, .. } = &call;
        let origin = ItemOrigin::Step { step: step.clone(), number: *number, attempt: *attempt };
        let live = live(self.canceled, self.checkpoint.take(), origin);
        StepContext::new(self.core(), StepInfo { call, live, key: OnceLock::new() })
    }
}

impl<F: Flow> ContextBuilder<WaitContext<F>> {
    /// The context.
    ///
    /// # Panics
    ///
    /// If the flow has no step with a `wait_for`.
    #[track_caller]
    pub fn build(mut self) -> WaitContext<F> {
        let call = self.call(|| F::definition().steps.iter().find(|step| step.wait.is_some()));
        WaitContext::new(self.core(), WaitInfo { call, signal: signal(self.canceled) })
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

/// What says to a handler whether it is to stop, and says nothing else.
fn signal(canceled: bool) -> Arc<Signal> {
    let signal = Arc::new(Signal::default());
    if canceled {
        signal.tell();
    }
    signal
}

/// What connects a step with no engine: checkpoints are kept nowhere, and items for the test.
fn live(canceled: bool, checkpoint: Option<Payload>, origin: ItemOrigin) -> Live {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let streams = Streams::new(Kept::new(origin), &clock, clock.now());
    Live { signal: signal(canceled), streams, checkpoint }
}

fn recovery(step: &str, error: StepError, attempts: u32, may_have_run: bool) -> Recovery {
    let (failure, _) = error.into_parts();
    Recovery { step: stored(step), failure, attempts, may_have_run }
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
