//! A run, as its callers see it.

use std::fmt;
use std::marker::PhantomData;

use super::call::{argument, decode_answer};
use super::reply::Reply;
use super::result::RunResult;
use super::state;
use super::untyped::UntypedRun;
use super::waiting::Waiting;
use crate::definition::{ChannelHandle, Flow};
use crate::engine::Stop;
use crate::error::Result;
use crate::ids::{FlowId, RunId};
use crate::inspect::RunInfo;
use crate::value::Value;

/// A run of flow `F`. Cheap to clone, and good for as long as the run is kept.
///
/// It stays with its run: when the id gets a new run, this handle goes on to speak of the old one.
///
/// # Errors
///
/// Beside what a call says itself, each can fail with
///
/// - [`ErrorKind::Unavailable`], [`ErrorKind::DiskFull`], [`ErrorKind::ShutDown`]: the engine cannot work; nothing was changed.
/// - [`ErrorKind::OutcomeUnknown`]: it failed while a change was being written. A repetition under the same
///   [request id](Self::request_id) counts once.
/// - [`ErrorKind::Quarantined`]: this build cannot read the run's history.
///
/// [`ErrorKind::Unavailable`]: crate::ErrorKind::Unavailable
/// [`ErrorKind::DiskFull`]: crate::ErrorKind::DiskFull
/// [`ErrorKind::ShutDown`]: crate::ErrorKind::ShutDown
/// [`ErrorKind::OutcomeUnknown`]: crate::ErrorKind::OutcomeUnknown
/// [`ErrorKind::Quarantined`]: crate::ErrorKind::Quarantined
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
        Waiting::new(&self.run, "the output", |looked| async move {
            RunResult::<F>::new(run.end(&looked).await?).output()
        })
    }

    /// Waits for the run to end, in whatever way.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`] if a budget was given with [`timeout`](Waiting::timeout), and is used up.
    ///
    /// [`ErrorKind::Timeout`]: crate::ErrorKind::Timeout
    pub fn result(&self) -> Waiting<RunResult<F>> {
        let run = self.run.clone();
        Waiting::new(
            &self.run,
            "the end",
            |looked| async move { Ok(RunResult::new(run.end(&looked).await?)) },
        )
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
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn publish<C: ChannelHandle<F>>(&self, channel: C, message: C::Value) -> Reply<'_, ()> {
        let (run, slot) = (&self.run, channel.slot());
        Reply::new(async move {
            let slot = slot?;
            let message = state::message(&slot, &message)?;
            run.publish(slot, message).await
        })
    }

    /// Ends the run as no longer wanted.
    ///
    /// What waits ends at once. Handlers that run are told ([`StepContext::is_cancelled`]) and may go on for
    /// [`Options::cancel_grace`](crate::Options::cancel_grace); what they decide starts nothing new. Then the
    /// flow's `on_cancel` step runs, if it has one, and the run is Canceled. A run that is paused gives its
    /// handlers no time.
    ///
    /// It returns once the request is on disk; [`result`](Self::result) waits for the end.
    ///
    /// [`StepContext::is_cancelled`]: crate::definition::StepContext::is_cancelled
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: it has ended already: the first stop wins.
    /// - [`ErrorKind::Canceling`]: it is being cancelled already.
    ///
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    /// [`ErrorKind::Canceling`]: crate::ErrorKind::Canceling
    pub async fn cancel(&self) -> Result<()> {
        self.end(Stop::Cancel, None).await
    }

    /// Ends the run at once, whatever it does: running handlers are dropped, nothing cleans up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended already.
    ///
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    pub async fn terminate(&self) -> Result<()> {
        self.end(Stop::Terminate, None).await
    }

    /// Ends the run in the way that `stop` says, with a reason of which its result keeps the first 4 KiB.
    ///
    /// [`Stop::Terminate`] ends every run, also one whose history cannot be read.
    ///
    /// # Errors
    ///
    /// As [`cancel`](Self::cancel). A run that is being cancelled can still be ended at once.
    pub async fn stop(&self, stop: Stop, reason: impl Into<String>) -> Result<()> {
        self.end(stop, Some(reason.into())).await
    }

    async fn end(&self, stop: Stop, reason: Option<String>) -> Result<()> {
        self.run.stop(self.run.core.flows().of::<F>()?, stop, reason).await
    }

    /// Lets no attempt start until the run is [resumed](Self::resume). Handlers that run go on, and what they
    /// decide counts. Messages are kept; timers keep their instants and fire after the pause.
    ///
    /// A run that is paused already stays so.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: it has ended.
    /// - [`ErrorKind::Canceling`]: it is being cancelled.
    ///
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    /// [`ErrorKind::Canceling`]: crate::ErrorKind::Canceling
    pub async fn pause(&self) -> Result<()> {
        self.run.pause().await
    }

    /// Lets a [paused](Self::pause) run go on. A run that is not paused stays as it is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended.
    ///
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    pub async fn resume(&self) -> Result<()> {
        self.run.resume().await
    }

    /// What the run is and does at this moment.
    ///
    /// # Errors
    ///
    /// Those of [every call](Self#errors).
    pub async fn describe(&self) -> Result<RunInfo> {
        self.run.describe().await
    }

    /// Calls an RPC by its stored name. The generated methods call this.
    #[doc(hidden)]
    pub async fn call<I: Value, O: Value>(&self, rpc: &'static str, input: &I) -> Result<O> {
        let flow = self.run.core.flows().of::<F>()?;
        let answer = self.run.call(flow, rpc, argument(rpc, input)?).await?;
        Ok(decode_answer(rpc, &answer)?)
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
