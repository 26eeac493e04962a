//! Waiting until a change is on disk.

use tokio::sync::oneshot;

use crate::commit::{NotTaken, Ticket};
use crate::error::{Error, ErrorKind, Result};
use crate::shard::Shard;
use crate::store::StoreError;

fn not_durable(reason: NotTaken) -> Error {
    match reason {
        NotTaken::Fault(fault) => fault.into(),
        other => Error::new(ErrorKind::Unavailable, other.to_string()),
    }
}

/// Waits until a commit is on disk, and gives what is told of it.
pub(crate) async fn written<T>(answer: oneshot::Receiver<Result<T, StoreError>>) -> Result<T> {
    match answer.await {
        Ok(Ok(told)) => Ok(told),
        Ok(Err(fault)) if fault.wrote_nothing() => Err(fault.into()),
        Ok(Err(fault)) => Err(unknown_outcome(&fault.to_string())),
        Err(_) => Err(unknown_outcome("the engine was stopped")),
    }
}

fn unknown_outcome(why: &str) -> Error {
    let message =
        format!("the change may have been made or not ({why}): look at the run before repeating it");
    Error::new(ErrorKind::OutcomeUnknown, message)
}

impl Shard {
    /// Waits until everything up to `ticket` is on disk.
    pub(crate) async fn durable(&self, ticket: Option<Ticket>) -> Result<()> {
        let Some(ticket) = ticket else { return Ok(()) };
        self.writer.committer.durable(ticket).await.map_err(not_durable)
    }

    /// Waits until every item of a stream that can be read now is on disk.
    pub(crate) async fn items_durable(&self) -> Result<()> {
        let committer = &self.writer.committer;
        committer.durable_append(committer.last_append()).await.map_err(not_durable)
    }

    /// Waits until every change of a run that can be read now is on disk.
    pub(crate) async fn all_durable(&self) -> Result<()> {
        self.durable(Some(self.writer.committer.last())).await
    }
}
