//! Starting a run of a flow.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::begin::Reuse;
use super::beginning::{Beginning, TimeoutPolicy};
use super::handle::RunHandle;
use super::start_call::StartCall;
use super::state::{self, attribute_value};
use crate::definition::{AttributeHandle, ChannelHandle, Flow, StepOptions};
use crate::dex::Core;
use crate::error::Result;
use crate::value::{Payload, ValueError};

/// A run that is about to be started; made by [`Client::start`](super::Client::start). Await it.
#[must_use = "a run is not started until this is awaited"]
pub struct Start<F> {
    core: Arc<Core>,
    beginning: Result<Beginning>,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Start<F> {
    pub(super) fn new(
        core: Arc<Core>,
        flow_id: &str,
        input: std::result::Result<Payload, ValueError>,
    ) -> Self {
        let beginning = input.map_err(Into::into).and_then(|input| Beginning::new(flow_id, input));
        Self { core, beginning, flow: PhantomData }
    }

    /// Sets what to do when the id has a run already. The default refuses.
    pub fn reuse(self, reuse: Reuse) -> Self {
        self.set(|beginning| beginning.reuse = reuse)
    }

    /// Gives the run an attribute from the beginning: it is set in the commit that creates the run.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn with<A: AttributeHandle<F>>(mut self, attribute: A, value: A::Value) -> Self {
        self.beginning = self.beginning.and_then(|mut beginning| {
            let slot = attribute.slot()?;
            let value = attribute_value(&slot, &value)?;
            beginning.staged.attributes.push((slot, Some(value)));
            Ok(beginning)
        });
        self
    }

    /// Puts a message into a channel of the run from the beginning, in the commit that creates the run. Several
    /// keep their order.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn publish<C: ChannelHandle<F>>(mut self, channel: C, message: C::Value) -> Self {
        self.beginning = self.beginning.and_then(|mut beginning| {
            let slot = channel.slot()?;
            let message = state::message(&slot, &message)?;
            beginning.staged.messages.push((slot, message));
            Ok(beginning)
        });
        self
    }

    /// Sets how long the run may take. The default is the flow's `timeout`, or for ever.
    ///
    /// What happens then is what [`on_timeout`](Self::on_timeout) says. A pause does not stop this clock, but
    /// what happens at its end waits for the end of the pause.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set(|beginning| beginning.timeout = Some(timeout))
    }

    /// Sets what happens when the run's time is up. The default is the flow's `on_timeout` step, if it has
    /// one, and else to fail.
    ///
    /// The start is refused ([`ErrorKind::InvalidSetup`]) if the run has no time, or there is no such step.
    ///
    /// [`ErrorKind::InvalidSetup`]: crate::ErrorKind::InvalidSetup
    pub fn on_timeout(self, policy: TimeoutPolicy) -> Self {
        self.set(|beginning| beginning.on_timeout = Some(policy))
    }

    /// Sets options of the start step for this one run; what is not set is what the step itself says.
    ///
    /// Options that cannot work, or that are given for a flow without a start step, are an error of the start:
    /// [`ErrorKind::InvalidValue`].
    ///
    /// [`ErrorKind::InvalidValue`]: crate::ErrorKind::InvalidValue
    pub fn options(self, options: StepOptions<F, F::Input>) -> Self {
        self.set(|beginning| beginning.options = options.given())
    }

    /// Makes this start one request, called `id`: a repetition with the same content gives the run that the
    /// first one started, as long as that is the newest run of its flow id.
    ///
    /// With other content it fails with [`ErrorKind::RequestMismatch`].
    ///
    /// [`ErrorKind::RequestMismatch`]: crate::ErrorKind::RequestMismatch
    pub fn request_id(self, id: impl Into<String>) -> Self {
        self.set(|beginning| beginning.request_id = Some(id.into()))
    }

    /// Calls an RPC of the run, in the commit that creates it: it sees the attributes and messages that the start gives,
    /// and what it does is there before the first step is.
    ///
    /// `call` is lent a handle of the run, which is not there yet, to call one RPC and nothing else. Awaiting gives the run
    /// and the answer. An RPC that refuses or fails starts nothing ([`ErrorKind::RpcFailed`]), and neither does one that
    /// locks what the start step has for itself ([`ErrorKind::Locked`]). A repetition of a [request](Self::request_id)
    /// gets the first answer.
    ///
    /// ```
    /// # use dex_runtime::{Client, Result, RunHandle, definition::Flow};
    /// # struct Run<F>(RunHandle<F>);
    /// # impl<F: Flow> From<RunHandle<F>> for Run<F> { fn from(run: RunHandle<F>) -> Self { Self(run) } }
    /// # impl<F: Flow> Run<F> { async fn add(&self, item: String) -> Result<u32> { self.0.call("add", &item).await } }
    /// # async fn example<F: Flow<Input = String, Run = Run<F>>>(client: Client<F>) -> Result<()> {
    /// let start = client.start("basket-17", "ada".to_owned());
    /// let (run, items) = start.call(|run| async move { run.add("a book".to_owned()).await }).await?;
    /// assert_eq!(items, 1);
    /// # let _ = run; Ok(()) }
    /// ```
    ///
    /// [`ErrorKind::RpcFailed`]: crate::ErrorKind::RpcFailed
    /// [`ErrorKind::Locked`]: crate::ErrorKind::Locked
    pub fn call<C, R, A>(self, call: C) -> StartCall<F, C>
    where
        C: FnOnce(F::Run) -> R,
        R: Future<Output = Result<A>>,
    {
        StartCall::new(self, call)
    }

    pub(super) fn into_parts(self) -> (Arc<Core>, Result<Beginning>) {
        (self.core, self.beginning)
    }

    fn set(self, set: impl FnOnce(&mut Beginning)) -> Self {
        let beginning = self.beginning.map(|mut beginning| {
            set(&mut beginning);
            beginning
        });
        Self { beginning, ..self }
    }

    async fn run(self) -> Result<F::Run> {
        let beginning = self.beginning?;
        let flow = Arc::clone(self.core.flows().of::<F>()?);
        let (run, _) = beginning.begin(self.core, &flow).await?;
        Ok(RunHandle::of(run).into())
    }
}

impl<F: Flow> IntoFuture for Start<F> {
    type Output = Result<F::Run>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<F> fmt::Debug for Start<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start").field("beginning", &self.beginning).finish_non_exhaustive()
    }
}
