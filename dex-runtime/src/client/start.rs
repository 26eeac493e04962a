//! Starting a run of a flow.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use super::begin::{Beginning, Reuse};
use super::handle::RunHandle;
use crate::definition::{Attribute, Channel, Flow};
use crate::dex::Core;
use crate::error::Result;
use crate::value::{Payload, Value};

/// A run that is about to be started; made by [`Client::start`](super::Client::start). Await it.
#[must_use = "a run is not started until this is awaited"]
pub struct Start<F> {
    core: Arc<Core>,
    beginning: Result<Beginning>,
    reuse: Reuse,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Start<F> {
    pub(super) fn new(core: Arc<Core>, flow_id: &str, input: &F::Input) -> Self {
        let input = Payload::encode(input).map_err(Into::into);
        let beginning = input.and_then(|input| Beginning::new(flow_id, input));
        Self { core, beginning, reuse: Reuse::Reject, flow: PhantomData }
    }

    /// Sets what to do when the id has a run already. The default refuses.
    pub fn reuse(self, reuse: Reuse) -> Self {
        Self { reuse, ..self }
    }

    /// Gives the run an attribute from the beginning: it is set in the commit that creates the run.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn with<T: Value>(mut self, attribute: Attribute<F, T>, value: T) -> Self {
        self.beginning = self.beginning.and_then(|mut beginning| {
            let value = Payload::encode(&value)?;
            beginning.staged.attributes.push((attribute.slot(), Some(value)));
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
    pub fn publish<T: Value>(mut self, channel: Channel<F, T>, message: T) -> Self {
        self.beginning = self.beginning.and_then(|mut beginning| {
            beginning.staged.messages.push((channel.slot(), Payload::encode(&message)?));
            Ok(beginning)
        });
        self
    }

    async fn run(self) -> Result<F::Run> {
        let beginning = self.beginning?;
        let flow = Arc::clone(self.core.flows().of::<F>()?);
        Ok(RunHandle::of(beginning.begin(self.core, &flow, self.reuse).await?).into())
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
        f.debug_struct("Start")
            .field("beginning", &self.beginning)
            .field("reuse", &self.reuse)
            .finish_non_exhaustive()
    }
}
