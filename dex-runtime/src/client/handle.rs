//! A run, as its callers see it.

use std::fmt;
use std::marker::PhantomData;

use super::result::RunResult;
use super::untyped::UntypedRun;
use super::waiting::Waiting;
use crate::definition::{Channel, Flow};
use crate::engine::{Command, Stop};
use crate::error::Result;
use crate::ids::{FlowId, RunId};
use crate::inspect::RunInfo;
use crate::value::{Payload, Value};

/// A run of flow `F`. Cheap to clone, and good for as long as the run is kept.
///
/// It stays with its run: when the id gets a new run, this handle goes on to speak of the old one.
pub struct RunHandle<F> {
    pub(super) run: UntypedRun,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> RunHandle<F> {
    pub(super) fn of(run: UntypedRun) -> Self {
        Self { run, flow: PhantomData }
    }

    /// What the caller called the run.
    pub fn flow_id(&self) -> &FlowId {
        &self.run.flow_id
    }

    /// What the engine called it.
    pub fn run_id(&self) -> RunId {
        self.run.run_id
    }

    /// Waits for the run to complete and gives its output.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::RunFailed`]: it ends in another way. Use [`result`](Self::result) to see how.
    /// - [`ErrorKind::Timeout`]: a budget was given with [`timeout`](Waiting::timeout), and is used up.
    ///
    /// [`ErrorKind::RunFailed`]: crate::ErrorKind::RunFailed
    /// [`ErrorKind::Timeout`]: crate::ErrorKind::Timeout
    pub fn output(&self) -> Waiting<F::Output> {
        let run = self.run.clone();
        Waiting::new(&self.run, "the output", async move { RunResult::<F>::new(run.end().await?).output() })
    }

    /// Waits for the run to end, in whatever way.
    pub fn result(&self) -> Waiting<RunResult<F>> {
        let run = self.run.clone();
        Waiting::new(&self.run, "the end", async move { Ok(RunResult::new(run.end().await?)) })
    }

    /// Puts a message at the end of a channel of the run.
    ///
    /// Once it returns the message is on disk; it stays in the channel until a wait takes it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: the run has ended; the message was not kept.
    /// - [`ErrorKind::LimitReached`]: the channel is full.
    ///
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    /// [`ErrorKind::LimitReached`]: crate::ErrorKind::LimitReached
    pub async fn publish<T: Value>(&self, channel: Channel<F, T>, message: T) -> Result<()> {
        let values = vec![Payload::encode(&message)?];
        self.run.change(Command::Publish { slot: channel.slot(), values }).await
    }

    /// Ends the run as no longer wanted. Running handlers are dropped; the run is then Canceled.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended already: the first stop wins.
    ///
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    pub async fn cancel(&self) -> Result<()> {
        self.run.stop(Stop::Cancel, None).await
    }

    /// Ends the run in the way that `stop` says, with a reason of which its result keeps the first 4 KiB.
    ///
    /// [`Stop::Terminate`] ends every run, also one whose history cannot be read.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended already: the first stop wins.
    ///
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    pub async fn stop(&self, stop: Stop, reason: impl Into<String>) -> Result<()> {
        self.run.stop(stop, Some(reason.into())).await
    }

    /// Lets a parked step execution (`<step>-<n>`) try again, after what stopped it was mended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if the run has no such parked execution.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    pub async fn retry_step(&self, execution: &str) -> Result<()> {
        self.run.retry_step(execution).await
    }

    /// What the run is and does at this moment.
    pub async fn describe(&self) -> Result<RunInfo> {
        self.run.describe().await
    }

    /// Calls an RPC by its stored name. The generated methods call this.
    #[doc(hidden)]
    pub async fn call<I: Value, O: Value>(&self, rpc: &'static str, input: &I) -> Result<O> {
        let flow = self.run.core.flows().of::<F>()?;
        let answer = self.run.call(flow, rpc, Payload::encode(input)?).await?;
        Ok(answer.decode()?)
    }
}

impl<F> Clone for RunHandle<F> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone(), flow: PhantomData }
    }
}

impl<F> fmt::Debug for RunHandle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandle")
            .field("flow_id", &self.run.flow_id)
            .field("run_id", &self.run.run_id)
            .finish_non_exhaustive()
    }
}
