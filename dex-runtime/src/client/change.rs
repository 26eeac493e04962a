//! Changing a run: one command, carried out once if it is a request.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::request::Request;
use super::untyped::UntypedRun;
use crate::definition::{Registered, cut};
use crate::dex::written;
use crate::engine::{Command, Rejection, RunState, Staged, Stop, WriteReport};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{Name, Slot};
use crate::registry::{Refused, Resident, Submit, Submitted};
use crate::shard::{Found, Shard};
use crate::value::Payload;

/// A command, and the request that it is.
#[derive(Clone, Debug)]
pub(super) struct Change {
    request: Option<Request>,
    command: Command,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// It is on disk.
    Done,
    /// The same request was carried out before, with this answer.
    Before(Payload),
    /// Something that it depends on has changed; nothing was written.
    Conflict,
}

impl UntypedRun {
    /// This run, all of whose changes are the request `id`.
    pub(super) fn with_request(self, id: Name) -> Self {
        Self { request: Some(id), ..self }
    }

    /// The request that a change by this handle is, if it is one.
    ///
    /// `what` and `content` are what two requests with one id must have in common.
    pub(super) fn request(&self, what: &str, content: &[&[u8]]) -> Option<Request> {
        Some(Request::new(self.request.clone()?, what, content))
    }

    /// Puts a message at the end of a channel.
    pub(super) async fn publish(&self, slot: Slot, message: Payload) -> Result<()> {
        let request = self.request("publish", &[slot.to_string().as_bytes(), message.as_bytes()]);
        self.change(request, Command::Publish { slot, values: vec![message] }).await
    }

    /// Takes a message out of a channel.
    pub(super) async fn delete_message(&self, slot: Slot, number: u64) -> Result<()> {
        let request = self.request("delete message", &[slot.to_string().as_bytes(), &number.to_be_bytes()]);
        self.change(request, Command::DeleteMessage { slot, number }).await
    }

    /// Sets an attribute, or unsets it, whatever it was.
    pub(super) async fn write_attribute(&self, slot: Slot, value: Option<Payload>) -> Result<()> {
        let name = slot.to_string();
        let request = match &value {
            Some(value) => self.request("set", &[name.as_bytes(), value.as_bytes()]),
            None => self.request("delete", &[name.as_bytes()]),
        };
        let staged = Staged { attributes: vec![(slot, value)], ..Staged::default() };
        self.change(request, Command::Write(WriteReport { staged, ..WriteReport::default() })).await
    }

    /// Ends the run in the way that `stop` says.
    pub(super) async fn stop(&self, flow: &Registered, stop: Stop, reason: Option<String>) -> Result<()> {
        let plan = flow.cancel_plan(self.core.options().cancel_grace);
        let reason = reason.map(cut);
        let request = self.request("stop", &[format!("{stop:?} {reason:?}").as_bytes()]);
        match self.change(request, Command::Stop { stop, reason: reason.clone(), plan }).await {
            // A run that was set aside can be ended all the same.
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

    /// Lets no attempt start until the run is resumed.
    pub(super) async fn pause(&self) -> Result<()> {
        self.change(self.request("pause", &[]), Command::Pause).await
    }

    /// Lets a paused run go on.
    pub(super) async fn resume(&self) -> Result<()> {
        self.change(self.request("resume", &[]), Command::Resume).await
    }

    /// Submits a command and waits until what it did is on disk.
    pub(super) async fn change(&self, request: Option<Request>, command: Command) -> Result<()> {
        match self.transact(request, Payload::NULL, command).await? {
            Changed::Done | Changed::Before(_) => Ok(()),
            Changed::Conflict => {
                let message = format!("run `{}` has changed meanwhile; nothing was written", self.flow_id);
                Err(Error::new(ErrorKind::Timeout, message))
            }
        }
    }

    /// As [`change`](Self::change), for a command that depends on what was read. A repetition of the request
    /// gets `answer`.
    pub(super) async fn transact(
        &self,
        request: Option<Request>,
        answer: Payload,
        command: Command,
    ) -> Result<Changed> {
        let command = match request.clone() {
            Some(request) => request.once(answer, command),
            None => command,
        };
        let change = Change { request, command };
        let transact = |shard: Arc<Shard>| {
            let change = change.clone();
            async move { self.transact_in(&shard, change).await }
        };
        self.core.with_shard(transact).await
    }

    async fn transact_in(&self, shard: &Arc<Shard>, change: Change) -> Result<Changed> {
        let Change { request, command } = change;
        shard.check()?;
        loop {
            let run = match self.find(shard).await? {
                Found::Open(run) => run,
                Found::Closed(state) => {
                    return match request.map(|request| request.answered(&state)).transpose()?.flatten() {
                        Some(answer) => Ok(Changed::Before(answer)),
                        None => Err(self.closed(shard).await),
                    };
                }
            };
            let (reply, answer) = oneshot::channel();
            match shard.writer.submit(&run, command.clone(), Submit::called(reply)) {
                Ok(Submitted::Enqueued) => return written(answer).await.map(|()| Changed::Done),
                Ok(Submitted::Nothing { unwritten }) => {
                    return shard.durable(unwritten).await.map(|()| Changed::Done);
                }
                Err(Refused::Passivated) => shard.check()?,
                Err(Refused::Rejected(Rejection::Answered { answer, .. })) => {
                    return shard.settled(&run).await.map(|()| Changed::Before(answer));
                }
                Err(Refused::Rejected(Rejection::Conflict { .. })) => return Ok(Changed::Conflict),
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
}
