//! A run, as its callers see it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::request::Request;
use super::result::RunResult;
use crate::definition::{Channel, Flow};
use crate::dex::{Core, written};
use crate::engine::{Command, Rejection, RunEnd, RunState, Stop};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, Name, RunId};
use crate::inspect::RunInfo;
use crate::registry::{Refused, Resident, Submit, Submitted};
use crate::shard::{Found, Shard};
use crate::value::{Payload, Value};

/// A run of flow `F`. Cheap to clone, and good for as long as the run is kept.
///
/// It stays with its run: when the id gets a new run, this handle goes on to speak of the old one.
pub struct RunHandle<F> {
    pub(super) core: Arc<Core>,
    flow_id: FlowId,
    run_id: RunId,
    /// Set if all changes by this handle are one request.
    request: Option<Name>,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> RunHandle<F> {
    pub(crate) fn new(core: Arc<Core>, flow_id: FlowId, run_id: RunId) -> Self {
        Self { core, flow_id, run_id, request: None, flow: PhantomData }
    }

    /// What the caller called the run.
    pub fn flow_id(&self) -> &FlowId {
        &self.flow_id
    }

    /// What the engine called it.
    pub fn run_id(&self) -> RunId {
        self.run_id
    }

    /// Waits for the run to complete and gives its output.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::RunFailed`] if it ends in another way. Use [`result`](Self::result) to see how.
    pub async fn output(&self) -> Result<F::Output> {
        self.result().await?.output()
    }

    /// Waits for the run to end, in whatever way.
    pub async fn result(&self) -> Result<RunResult<F>> {
        loop {
            let shard = self.core.shard_or_wait().await?;
            if let Some(end) = self.end_in(&shard).await? {
                return Ok(RunResult::new(end));
            }
            self.core.after(&shard).await?;
        }
    }

    /// The run's end, if this opening of the store sees it.
    async fn end_in(&self, shard: &Arc<Shard>) -> Result<Option<Arc<RunEnd>>> {
        // First the waiter, then the look: an end between the two is not missed.
        let mut waiter = shard.waiters.register(self.run_id);
        match self.look(shard, RunEnd::of).await {
            Ok(Some(end)) => Ok(Some(Arc::new(end))),
            Ok(None) => Ok(waiter.end().await),
            Err(error) if error.kind() == ErrorKind::Unavailable => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the run's newest durable state.
    pub(super) async fn look<R>(&self, shard: &Arc<Shard>, look: impl Fn(&RunState) -> R) -> Result<R> {
        loop {
            match self.find(shard).await? {
                Found::Closed(state) => return Ok(look(&state)),
                Found::Open(run) => match run.read(&look) {
                    Ok((seen, unwritten)) => {
                        shard.durable(unwritten).await?;
                        return Ok(seen);
                    }
                    Err(Refused::Passivated) => shard.check()?,
                    Err(refused) => return Err(refused.into_error(run.identity())),
                },
            }
        }
    }

    pub(super) async fn find(&self, shard: &Arc<Shard>) -> Result<Found> {
        shard.run(&self.flow_id, self.run_id).await?.ok_or_else(|| {
            let message = format!("run {} of `{}` is not in the store", self.run_id, self.flow_id);
            Error::new(ErrorKind::NotFound, message)
        })
    }

    /// Puts a message at the end of a channel of the run.
    ///
    /// Once it returns the message is on disk; it stays in the channel until a wait takes it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: the run has ended; the message was not kept.
    /// - [`ErrorKind::LimitReached`]: the channel is full.
    pub async fn publish<T: Value>(&self, channel: Channel<F, T>, message: T) -> Result<()> {
        let value = Payload::encode(&message)?;
        let slot = channel.slot();
        let (name, bytes) = (slot.to_string(), value.clone());
        let command = Command::Publish { slot, values: vec![value] };
        self.change("publish", &[name.as_bytes(), bytes.as_bytes()], command).await
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
    pub async fn cancel(&self) -> Result<()> {
        self.end(Stop::Cancel, None).await
    }

    /// Ends the run at once, whatever it does: running handlers are dropped, nothing cleans up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended already.
    pub async fn terminate(&self) -> Result<()> {
        self.end(Stop::Terminate, None).await
    }

    /// Ends the run in the way that `stop` says, with a reason that its result keeps.
    ///
    /// # Errors
    ///
    /// As [`cancel`](Self::cancel). A run that is being cancelled can still be ended at once.
    pub async fn stop(&self, stop: Stop, reason: impl Into<String>) -> Result<()> {
        self.end(stop, Some(reason.into())).await
    }

    async fn end(&self, stop: Stop, reason: Option<String>) -> Result<()> {
        let grace = self.core.options().cancel_grace;
        let plan = self.core.flows().of::<F>()?.cancel_plan(grace);
        let content = format!("{stop:?} {reason:?}");
        self.change("stop", &[content.as_bytes()], Command::Stop { stop, reason, plan }).await
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
    pub async fn pause(&self) -> Result<()> {
        self.change("pause", &[], Command::Pause).await
    }

    /// Lets a [paused](Self::pause) run go on. A run that is not paused stays as it is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended.
    pub async fn resume(&self) -> Result<()> {
        self.change("resume", &[], Command::Resume).await
    }

    /// Lets a parked step execution (`<step>-<n>`) try again, after what stopped it was mended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if the run has no such parked execution.
    pub async fn retry_step(&self, execution: &str) -> Result<()> {
        let find = |state: &RunState| {
            let parked = state.executions.iter().find(|(_, parked)| parked.id() == execution);
            parked.map(|(number, _)| *number)
        };
        let found = self.core.with_shard(|shard| async move { self.look(&shard, find).await });
        let Some(execution) = found.await? else {
            let message = format!("run `{}` has no open step execution `{execution}`", self.flow_id);
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        let number = execution.0.to_be_bytes();
        self.change("retry step", &[&number], Command::ResumeStep { execution }).await
    }

    /// What the run is and does at this moment.
    pub async fn describe(&self) -> Result<RunInfo> {
        self.core.with_shard(|shard| async move { self.look(&shard, RunInfo::of).await }).await
    }

    /// Submits a command and waits until what it did is on disk.
    ///
    /// `what` and `content` are what two requests with one id must have in common.
    async fn change(&self, what: &str, content: &[&[u8]], command: Command) -> Result<()> {
        let request = self.request(what, content);
        let command = match request.clone() {
            Some(request) => request.once(Payload::NULL, command),
            None => command,
        };
        let change = |shard: Arc<Shard>| {
            let (request, command) = (request.clone(), command.clone());
            async move { self.change_in(&shard, request, command).await }
        };
        self.core.with_shard(change).await
    }

    /// The request that a change by this handle is, if it is one.
    pub(super) fn request(&self, what: &str, content: &[&[u8]]) -> Option<Request> {
        Some(Request::new(self.request.clone()?, what, content))
    }

    pub(super) fn with_request(self, id: Name) -> Self {
        Self { request: Some(id), ..self }
    }

    async fn change_in(&self, shard: &Arc<Shard>, request: Option<Request>, command: Command) -> Result<()> {
        shard.check()?;
        loop {
            let run = match self.find(shard).await? {
                Found::Open(run) => run,
                Found::Closed(state) => {
                    return match request.map(|request| request.answered(&state)).transpose()?.flatten() {
                        Some(_) => Ok(()),
                        None => Err(self.closed(shard).await),
                    };
                }
            };
            let (reply, answer) = oneshot::channel();
            match shard.writer.submit(&run, command.clone(), Submit::called(reply)) {
                Ok(Submitted::Enqueued) => return written(answer).await,
                Ok(Submitted::Nothing { unwritten }) => return shard.durable(unwritten).await,
                Err(Refused::Passivated) => shard.check()?,
                Err(Refused::Rejected(Rejection::Answered { .. })) => return shard.settled(&run).await,
                Err(refused) => return Err(shard.refusal(&run, refused).await),
            }
        }
    }

    pub(super) async fn closed(&self, shard: &Arc<Shard>) -> Error {
        match self.look(shard, RunState::status).await {
            Ok(status) => {
                let message = format!("run `{}` has ended: {status}", self.flow_id);
                Error::with_run(ErrorKind::Closed, message, self.run_id, status)
            }
            Err(error) => error,
        }
    }
}

impl Shard {
    /// What a caller is told whose command was refused, once what refused it is on disk.
    pub(super) async fn refusal(&self, run: &Resident, refused: Refused) -> Error {
        if let Refused::Rejected(_) = refused
            && let Err(error) = self.settled(run).await
        {
            return error;
        }
        refused.into_error(run.identity())
    }

    /// Waits until all that has happened to the run so far is on disk.
    pub(super) async fn settled(&self, run: &Resident) -> Result<()> {
        match run.read(|_| ()) {
            Ok(((), unwritten)) => self.durable(unwritten).await,
            // The run has ended on disk and left, or the engine stops.
            Err(_) => self.check(),
        }
    }
}

impl<F> Clone for RunHandle<F> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            flow_id: self.flow_id.clone(),
            run_id: self.run_id,
            request: self.request.clone(),
            flow: PhantomData,
        }
    }
}

impl<F> fmt::Debug for RunHandle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandle")
            .field("flow_id", &self.flow_id)
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}
