//! What callers do: start runs, find them, call them, wait for them.
//!
//! A caller's handle outlives an opening of the store: a read or a wait that meets the end of one goes on
//! with the next; a change that was being written says that its outcome is unknown.

mod begin;
mod beginning;
mod call;
mod change;
mod child;
mod dynamic;
mod handle;
mod history;
mod listing;
mod operate;
mod reply;
mod request;
mod result;
mod start;
mod start_call;
mod state;
mod stream;
mod untyped;
mod waiting;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

pub use self::begin::Reuse;
pub use self::beginning::TimeoutPolicy;
pub(crate) use self::child::ChildBegun;
pub use self::dynamic::{DynClient, DynHandle, DynResult, DynRun, DynStart, DynStartCall};
pub use self::handle::RunHandle;
pub use self::history::History;
pub use self::reply::Reply;
pub use self::result::RunResult;
pub use self::start::Start;
pub use self::start_call::StartCall;
pub use self::stream::{StreamItem, StreamReader, StreamSource};
pub use self::waiting::Waiting;

use self::untyped::UntypedRun;
use crate::definition::{Flow, InputIs};
use crate::dex::Core;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FlowId;

/// Starts and finds runs of flow `F`. Cheap to clone.
pub struct Client<F> {
    core: Arc<Core>,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Client<F> {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, flow: PhantomData }
    }

    /// Starts a run: `client.start("order-17", order).await`.
    ///
    /// Once it returns, the run is on disk and goes on whatever happens to the process.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::AlreadyStarted`]: the id has a run, open or closed; see [`Error::existing_run`].
    /// - [`ErrorKind::InvalidId`], [`ErrorKind::InvalidValue`]: nothing was started.
    /// - [`ErrorKind::UnknownFlow`]: the engine was opened without this flow.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn start<I>(&self, flow_id: impl AsRef<str>, input: I) -> Start<F>
    where
        F::Input: InputIs<I>,
    {
        Start::new(Arc::clone(&self.core), flow_id.as_ref(), F::Input::encode(&input))
    }

    /// The newest run of an id, open or closed.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: no run was ever started under this id.
    /// - [`ErrorKind::WrongFlow`]: it is a run of another flow.
    pub async fn run(&self, flow_id: impl AsRef<str>) -> Result<F::Run> {
        let registered = self.core.flows().of::<F>()?;
        let (run, flow) = UntypedRun::newest(Arc::clone(&self.core), FlowId::new(flow_id)?).await?;
        if flow != registered.name {
            let message =
                format!("`{}` is a run of flow `{flow}`, not of `{}`", run.flow_id, registered.name);
            return Err(Error::new(ErrorKind::WrongFlow, message));
        }
        Ok(RunHandle::of(run).into())
    }
}

impl<F> Clone for Client<F> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core), flow: PhantomData }
    }
}

impl<F: Flow> fmt::Debug for Client<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&F::definition().name).finish()
    }
}
