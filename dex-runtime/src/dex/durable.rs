//! Waiting until a change is on disk.

use tokio::sync::oneshot;

use crate::commit::{NotTaken, Ticket};
use crate::error::{Error, ErrorKind, Result};
use crate::shard::Shard;
use crate::store::StoreError;

/// Waits until a commit is on disk.
pub(crate) async fn written(answer: oneshot::Receiver<Result<(), StoreError>>) -> Result<()> {
    match answer.await {
        Ok(Ok(())) => Ok(()),
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
        self.writer.committer.durable(ticket).await.map_err(|reason| match reason {
            NotTaken::Fault(fault) => fault.into(),
            other => Error::new(ErrorKind::Unavailable, other.to_string()),
        })
    }
}
