//! A run without the types of its flow: what typed and dynamic handles do alike.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::definition::cut;
use crate::dex::{Core, written};
use crate::engine::{Command, Rejection, RunEnd, RunState, Staged, Stop, WriteReport};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, Name, RunId, Slot};
use crate::inspect::RunInfo;
use crate::registry::{Refused, Resident, Submitted};
use crate::shard::{Found, Shard};
use crate::value::Payload;

/// A run, wherever its engine keeps it.
#[derive(Clone, Debug)]
pub(super) struct UntypedRun {
    pub(super) core: Arc<Core>,
    pub(super) flow_id: FlowId,
    pub(super) run_id: RunId,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transacted {
    /// It is on disk.
    Done,
    /// Something that it depends on has changed; nothing was written.
    Conflict,
}

impl UntypedRun {
    /// The newest run of an id, open or closed, with the stored name of its flow.
    pub(super) async fn newest(core: Arc<Core>, flow_id: FlowId) -> Result<(Self, Name)> {
        let find = |shard: Arc<Shard>| {
            let flow_id = flow_id.clone();
            async move { shard.live(&flow_id).await }
        };
        let Some(live) = core.with_shard(find).await? else {
            let message = format!("no run was ever started under `{flow_id}`");
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        Ok((Self { core, flow_id, run_id: live.run }, live.flow))
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

    /// As [`look`](Self::look), in the opening of the store that works now.
    pub(super) async fn read<R>(&self, look: impl Fn(&RunState) -> R) -> Result<R> {
        let look = &look;
        self.core.with_shard(|shard| async move { self.look(&shard, look).await }).await
    }

    pub(super) async fn find(&self, shard: &Arc<Shard>) -> Result<Found> {
        shard.run(&self.flow_id, self.run_id).await?.ok_or_else(|| {
            let message = format!("run {} of `{}` is not in the store", self.run_id, self.flow_id);
            Error::new(ErrorKind::NotFound, message)
        })
    }

    pub(super) async fn describe(&self) -> Result<RunInfo> {
        self.read(RunInfo::of).await
    }

    /// Lets a parked step execution (`<step>-<n>`) try again.
    pub(super) async fn retry_step(&self, execution: &str) -> Result<()> {
        let find = |state: &RunState| {
            let parked = state.executions.iter().find(|(_, parked)| parked.id() == execution);
            parked.map(|(number, _)| *number)
        };
        let Some(execution) = self.read(find).await? else {
            let message = format!("run `{}` has no open step execution `{execution}`", self.flow_id);
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        self.change(Command::ResumeStep { execution }).await
    }

    /// Ends the run. One that was set aside can be terminated too.
    pub(super) async fn stop(&self, stop: Stop, reason: Option<String>) -> Result<()> {
        let reason = reason.map(cut);
        match self.change(Command::Stop { stop, reason: reason.clone() }).await {
            Err(error) if error.kind() == ErrorKind::Quarantined && stop == Stop::Terminate => {
                let write_off = |shard: Arc<Shard>| {
                    let reason = reason.clone();
                    async move { shard.write_off(&self.flow_id, self.run_id, reason).await }
                };
                self.core.with_shard(write_off).await
            }
            done => done,
        }
    }

    /// The encoded value of an attribute and the version that wrote it.
    pub(super) async fn attribute(&self, slot: &Slot) -> Result<Option<(Payload, u64)>> {
        let look = |state: &RunState| {
            state.attributes.get(slot).map(|attribute| (attribute.value.clone(), attribute.version))
        };
        self.read(look).await
    }

    /// Sets an attribute, or unsets it, whatever it was.
    pub(super) async fn write_attribute(&self, slot: Slot, value: Option<Payload>) -> Result<()> {
        let staged = Staged { attributes: vec![(slot, value)], ..Staged::default() };
        self.change(Command::Write(WriteReport { staged, ..WriteReport::default() })).await
    }

    /// The messages of a channel that nobody has taken yet, oldest first.
    pub(super) async fn messages(&self, slot: &Slot) -> Result<Vec<Payload>> {
        let look = |state: &RunState| {
            let waiting = state.channels.get(slot).map(|channel| &channel.queue);
            waiting.into_iter().flatten().map(|message| message.value.clone()).collect()
        };
        self.read(look).await
    }

    /// Submits a command and waits until what it did is on disk.
    pub(super) async fn change(&self, command: Command) -> Result<()> {
        match self.transact(command).await? {
            Transacted::Done => Ok(()),
            Transacted::Conflict => {
                let message = format!("run `{}` has changed meanwhile; nothing was written", self.flow_id);
                Err(Error::new(ErrorKind::Timeout, message))
            }
        }
    }

    /// As [`change`](Self::change), for a command that depends on what was read.
    pub(super) async fn transact(&self, command: Command) -> Result<Transacted> {
        let change = |shard: Arc<Shard>| {
            let command = command.clone();
            async move { self.transact_in(&shard, command).await }
        };
        self.core.with_shard(change).await
    }

    async fn transact_in(&self, shard: &Arc<Shard>, command: Command) -> Result<Transacted> {
        shard.check()?;
        loop {
            let Found::Open(run) = self.find(shard).await? else {
                return Err(self.closed(shard).await);
            };
            let (reply, answer) = oneshot::channel();
            match shard.writer.submit(&run, command.clone(), Some(reply)) {
                Ok(Submitted::Enqueued) => return written(answer).await.map(|()| Transacted::Done),
                Ok(Submitted::Nothing { unwritten }) => {
                    return shard.durable(unwritten).await.map(|()| Transacted::Done);
                }
                Err(Refused::Passivated) => shard.check()?,
                Err(Refused::Rejected(Rejection::Conflict { .. })) => return Ok(Transacted::Conflict),
                Err(refused) => return Err(shard.refusal(&run, refused).await),
            }
        }
    }

    /// Says that the run has ended, and how.
    pub(super) async fn closed(&self, shard: &Arc<Shard>) -> Error {
        match self.look(shard, RunState::status).await {
            Ok(status) => {
                let message = format!("run `{}` has ended: {status}", self.flow_id);
                Error::with_run(ErrorKind::Closed, message, self.run_id, status)
            }
            Err(error) => error,
        }
    }

    /// Waits for the run to end, in whatever way.
    pub(super) async fn end(&self) -> Result<Arc<RunEnd>> {
        loop {
            let shard = self.core.shard_or_wait().await?;
            if let Some(end) = self.end_in(&shard).await? {
                return Ok(end);
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

    /// Looks at the run, and again after each of its changes, until `judge` says what was waited for.
    ///
    /// What `judge` calls is the caller's, so it is called where no lock is held.
    pub(super) async fn until<S, R>(
        &self,
        look: impl Fn(&RunState) -> S,
        mut judge: impl FnMut(S) -> Result<Option<R>>,
    ) -> Result<R> {
        loop {
            let shard = self.core.shard_or_wait().await?;
            if let Some(found) = self.until_in(&shard, &look, &mut judge).await? {
                return Ok(found);
            }
            self.core.after(&shard).await?;
        }
    }

    /// What was waited for, if it comes in this opening of the store.
    async fn until_in<S, R>(
        &self,
        shard: &Arc<Shard>,
        look: impl Fn(&RunState) -> S,
        judge: &mut impl FnMut(S) -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        // First the watcher, then the look: a change between the two is not missed.
        let mut watcher = shard.watchers.watch(self.run_id);
        loop {
            let (seen, closed) = match self.look(shard, |run| (look(run), run.closed.is_some())).await {
                Ok(seen) => seen,
                Err(error) if error.kind() == ErrorKind::Unavailable => return Ok(None),
                Err(error) => return Err(error),
            };
            if let Some(found) = judge(seen)? {
                return Ok(Some(found));
            }
            if closed {
                return Err(self.closed(shard).await);
            }
            if !watcher.changed().await {
                return Ok(None);
            }
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
