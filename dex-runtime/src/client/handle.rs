//! A run, as its callers see it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::result::RunResult;
use crate::definition::{Channel, Flow};
use crate::dex::{Core, written};
use crate::engine::{Command, RunEnd, RunState, Stop};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, RunId};
use crate::inspect::RunInfo;
use crate::registry::{Refused, Resident, Submitted};
use crate::shard::{Found, Shard};
use crate::value::{Payload, Value};

/// A run of flow `F`. Cheap to clone, and good for as long as the run is kept.
///
/// It stays with its run: when the id gets a new run, this handle goes on to speak of the old one.
pub struct RunHandle<F> {
    pub(super) core: Arc<Core>,
    flow_id: FlowId,
    run_id: RunId,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> RunHandle<F> {
    pub(crate) fn new(core: Arc<Core>, flow_id: FlowId, run_id: RunId) -> Self {
        Self { core, flow_id, run_id, flow: PhantomData }
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
        let values = vec![Payload::encode(&message)?];
        self.change(Command::Publish { slot: channel.slot(), values }).await
    }

    /// Ends the run as no longer wanted. Running handlers are dropped; the run is then Canceled.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended already: the first stop wins.
    pub async fn cancel(&self) -> Result<()> {
        self.change(Command::Stop { stop: Stop::Cancel, reason: None }).await
    }

    /// Ends the run in the way that `stop` says, with a reason that its result keeps.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended already: the first stop wins.
    pub async fn stop(&self, stop: Stop, reason: impl Into<String>) -> Result<()> {
        self.change(Command::Stop { stop, reason: Some(reason.into()) }).await
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
        self.change(Command::ResumeStep { execution }).await
    }

    /// What the run is and does at this moment.
    pub async fn describe(&self) -> Result<RunInfo> {
        self.core.with_shard(|shard| async move { self.look(&shard, RunInfo::of).await }).await
    }

    /// Submits a command and waits until what it did is on disk.
    pub(super) async fn change(&self, command: Command) -> Result<()> {
        let change = |shard: Arc<Shard>| {
            let command = command.clone();
            async move { self.change_in(&shard, command).await }
        };
        self.core.with_shard(change).await
    }

    async fn change_in(&self, shard: &Arc<Shard>, command: Command) -> Result<()> {
        shard.check()?;
        loop {
            let Found::Open(run) = self.find(shard).await? else {
                return Err(self.closed(shard).await);
            };
            let (reply, answer) = oneshot::channel();
            match shard.writer.submit(&run, command.clone(), Some(reply)) {
                Ok(Submitted::Enqueued) => return written(answer).await,
                Ok(Submitted::Nothing { unwritten }) => return shard.durable(unwritten).await,
                Err(Refused::Passivated) => shard.check()?,
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
        if let Refused::Rejected(_) = refused {
            let durable = match run.read(|_| ()) {
                Ok(((), unwritten)) => self.durable(unwritten).await,
                // The run has ended on disk and left, or the engine stops.
                Err(_) => self.check(),
            };
            if let Err(error) = durable {
                return error;
            }
        }
        refused.into_error(run.identity())
    }
}

impl<F> Clone for RunHandle<F> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            flow_id: self.flow_id.clone(),
            run_id: self.run_id,
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
