//! Starting a run by the name of its flow.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::checked;
use super::handle::DynHandle;
use super::run::{DynRun, rpc_argument};
use crate::client::begin::Reuse;
use crate::client::beginning::{Beginning, Called, TimeoutPolicy};
use crate::client::call::decode_answer;
use crate::definition::{MemberKind, Registered, StepOptions};
use crate::dex::Core;
use crate::error::Result;
use crate::value::Payload;

/// A run that is about to be started; made by [`DynClient::start`](super::DynClient::start). Await it.
#[must_use = "a run is not started until this is awaited"]
pub struct DynStart {
    core: Arc<Core>,
    start: Result<(Arc<Registered>, Beginning)>,
}

impl DynStart {
    pub(super) fn new(core: Arc<Core>, flow: Result<Arc<Registered>>, flow_id: &str, input: &Json) -> Self {
        let start = flow.and_then(|flow| {
            let what = format!("the input of flow `{}`", flow.name);
            let input = checked(input, &what, |input| flow.flow.fits_input(input))?;
            Ok((flow, Beginning::new(flow_id, input)?))
        });
        Self { core, start }
    }

    /// Sets what to do when the id has a run already. The default refuses.
    pub fn reuse(self, reuse: Reuse) -> Self {
        self.set(|beginning| beginning.reuse = reuse)
    }

    /// Sets how long the run may take. The default is the flow's `timeout`, or for ever.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set(|beginning| beginning.timeout = Some(timeout))
    }

    /// Sets what happens when the run's time is up, as [`Start::on_timeout`](crate::Start::on_timeout) does.
    pub fn on_timeout(self, policy: TimeoutPolicy) -> Self {
        self.set(|beginning| beginning.on_timeout = Some(policy))
    }

    /// Sets options of the start step for this one run, as [`Start::options`](crate::Start::options) does.
    pub fn options(self, options: StepOptions<(), ()>) -> Self {
        self.set(|beginning| beginning.options = options.given())
    }

    /// Makes this start one request, called `id`, as [`Start::request_id`](crate::Start::request_id) does.
    pub fn request_id(self, id: impl Into<String>) -> Self {
        self.set(|beginning| beginning.request_id = Some(id.into()))
    }

    /// Gives the run an attribute from the beginning: it is set in the commit that creates the run.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn with<'a>(self, attribute: impl Into<DynHandle<'a>>, value: Json) -> Self {
        self.and(|flow, beginning| {
            let (slot, value) = attribute.into().with(flow, MemberKind::Attribute, &value)?;
            beginning.staged.attributes.push((slot, Some(value)));
            Ok(())
        })
    }

    /// Puts a message into a channel of the run from the beginning, in the commit that creates the run.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn publish<'a>(self, channel: impl Into<DynHandle<'a>>, message: Json) -> Self {
        self.and(|flow, beginning| {
            let message = channel.into().with(flow, MemberKind::Channel, &message)?;
            beginning.staged.messages.push(message);
            Ok(())
        })
    }

    /// Calls an RPC of the run, in the commit that creates it, as [`Start::call`](crate::Start::call) does. Awaiting gives
    /// the run and the answer.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn call(self, rpc: &str, input: Json) -> DynStartCall {
        let mut stored = "";
        let start = self.and(|flow, beginning| {
            let (rpc, input) = rpc_argument(flow.flow.definition(), rpc, &input)?;
            beginning.call = Some(Called { rpc: rpc.to_owned(), input });
            stored = rpc;
            Ok(())
        });
        DynStartCall { start, rpc: stored }
    }

    fn set(self, set: impl FnOnce(&mut Beginning)) -> Self {
        self.and(|_, beginning| {
            set(beginning);
            Ok(())
        })
    }

    fn and(mut self, add: impl FnOnce(&Registered, &mut Beginning) -> Result<()>) -> Self {
        self.start = self.start.and_then(|(flow, mut beginning)| {
            add(&flow, &mut beginning)?;
            Ok((flow, beginning))
        });
        self
    }

    async fn run(self) -> Result<(DynRun, Payload)> {
        let (flow, beginning) = self.start?;
        let (run, answer) = beginning.begin(self.core, &flow).await?;
        Ok((DynRun::new(run, flow), answer))
    }
}

impl IntoFuture for DynStart {
    type Output = Result<DynRun>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.run().await?.0) })
    }
}

/// A run that is about to be started with an RPC; made by [`DynStart::call`]. Await it: it gives the run and the answer.
#[derive(Debug)]
#[must_use = "a run is not started until this is awaited"]
pub struct DynStartCall {
    start: DynStart,
    rpc: &'static str,
}

impl IntoFuture for DynStartCall {
    type Output = Result<(DynRun, Json)>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (run, answer) = self.start.run().await?;
            let answer = decode_answer(self.rpc, &answer)?;
            Ok((run, answer))
        })
    }
}

impl fmt::Debug for DynStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning = self.start.as_ref().map(|(_, beginning)| beginning);
        f.debug_struct("DynStart").field("beginning", &beginning).finish_non_exhaustive()
    }
}
