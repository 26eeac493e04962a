//! Streams: where the items of attempts and of callers go, and what is read of them.
//!
//! Items are written by the committing thread. Nothing of a stream is kept in memory here, and its run need not be:
//! a reader looks at the store, and is woken when something was written.

use std::sync::{Arc, Weak};

use tokio::sync::oneshot;

use super::Shard;
use crate::commit::{NotTaken, Room as QueueRoom};
use crate::definition::call::CallFuture;
use crate::definition::{Outlet, Room, StepError, StreamError, StreamKey};
use crate::engine::{Command, Rejection, RunState};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{Attempt, Name, RunId};
use crate::registry::{NewItem, Refused, Resident, Submit};
use crate::store::record::{ItemOrigin, ItemRecord, encode_item, largest_item};
use crate::store::{StoreError, StoredItem, StreamNames, StreamQuery};
use crate::value::Payload;

/// Where the items of one attempt go.
pub(crate) struct AttemptOutlet {
    /// A handler that nobody wants any more must not keep the engine alive.
    shard: Weak<Shard>,
    run: Arc<Resident>,
    attempt: Attempt,
    origin: ItemOrigin,
}

impl AttemptOutlet {
    /// The outlet of `attempt`, the `tries`-th of execution `step`-`number`.
    pub(crate) fn new(
        shard: &Arc<Shard>,
        run: &Arc<Resident>,
        attempt: Attempt,
        (step, number, tries): (Name, u32, u32),
    ) -> Self {
        let origin = ItemOrigin::Step { step, number, attempt: tries };
        Self { shard: Arc::downgrade(shard), run: Arc::clone(run), attempt, origin }
    }

    fn shard(&self, stream: StreamKey) -> Result<Arc<Shard>, StreamError> {
        let gone = || StreamError::Stopped { stream: stream.name, reason: "the engine was stopped".into() };
        self.shard.upgrade().ok_or_else(gone)
    }

    fn is_current(&self, run: &RunState) -> Result<(), Rejection> {
        let stale = || Rejection::StaleAttempt { got: self.attempt, current: None };
        run.running(self.attempt).map(drop).ok_or_else(stale)
    }

    fn refused(&self, stream: StreamKey, refused: Refused) -> StreamError {
        match refused {
            Refused::Rejected(_) | Refused::Passivated => StreamError::Over { stream: stream.name },
            Refused::NotTaken(reason) => not_taken(stream, reason),
            refused @ Refused::Quarantined(_) => StreamError::Stopped {
                stream: stream.name,
                reason: refused.into_error(self.run.identity()).to_string(),
            },
        }
    }
}

fn not_taken(stream: StreamKey, reason: NotTaken) -> StreamError {
    match reason {
        NotTaken::NoRoom { waiting } => StreamError::Full { stream: stream.name, waiting },
        other => StreamError::Stopped { stream: stream.name, reason: other.to_string() },
    }
}

impl Outlet for AttemptOutlet {
    fn append(&self, stream: StreamKey, value: Payload, room: Option<Room>) -> Result<(), StreamError> {
        let shard = self.shard(stream)?;
        let item = ItemRecord { origin: self.origin.clone(), at: shard.clock.now(), value };
        let record = encode_item(&item);
        // What an outlet gives out as room is its own.
        let room = match room.and_then(|room| room.downcast::<QueueRoom>().ok()) {
            Some(room) => *room,
            None => {
                shard.writer.committer.try_room(record.len()).map_err(|reason| not_taken(stream, reason))?
            }
        };
        let item = NewItem { stream: names(stream), capacity: stream.capacity, record };
        let appended = shard.writer.append(&self.run, item, room, None, |run| self.is_current(run));
        appended.map_err(|refused| self.refused(stream, refused))
    }

    fn room(&self, stream: StreamKey, bytes: usize) -> CallFuture<Result<Room, StreamError>> {
        let shard = self.shard(stream);
        Box::pin(async move {
            let committer = Arc::clone(&shard?.writer.committer);
            match committer.room(bytes).await {
                Ok(room) => Ok(Box::new(room) as Room),
                Err(reason) => Err(not_taken(stream, reason)),
            }
        })
    }

    fn largest(&self, stream: StreamKey) -> usize {
        largest_item(stream.capacity, &self.origin)
    }

    fn keep(&self, value: Payload) -> Result<(), StepError> {
        let gone = || StepError::new("the engine was stopped: the checkpoint was not kept");
        let shard = self.shard.upgrade().ok_or_else(gone)?;
        let command = Command::Checkpoint { attempt: self.attempt, value };
        let kept = shard.writer.submit(&self.run, command, Submit { urgent: false, ..Submit::URGENT });
        kept.map(drop).map_err(|refused| match refused {
            // It will be as large when it is said again.
            Refused::Rejected(full @ Rejection::StateFull { .. }) => StepError::unworkable(full),
            Refused::Rejected(rejection) => StepError::new(rejection),
            refused => StepError::new(refused.into_error(self.run.identity())),
        })
    }
}

#[expect(
    clippy::expect_used,
    reason = "a wrong name is a fault of the macros, which check the names they write"
)]
fn names(stream: StreamKey) -> StreamNames {
    let name = |name: &str| Name::new(name).expect("the macros check the names that they write");
    StreamNames::new(name(stream.name), stream.aliases.iter().map(|alias| name(alias)))
}

/// What became of an item of a caller.
pub(crate) type AppendAnswer = oneshot::Receiver<Result<u64, StoreError>>;

impl Shard {
    /// Enqueues an item of a caller, as soon as there is room for it. The answer comes once it is on disk.
    pub(crate) async fn append_called(
        &self,
        run: &Arc<Resident>,
        stream: StreamKey,
        value: Payload,
    ) -> Result<AppendAnswer, Refused> {
        let record = encode_item(&ItemRecord { origin: ItemOrigin::Client, at: self.clock.now(), value });
        let room = self.writer.committer.room(record.len()).await?;
        let item = NewItem { stream: names(stream), capacity: stream.capacity, record };
        let (reply, answer) = oneshot::channel();
        let is_open = |run: &RunState| match &run.closed {
            None => Ok(()),
            Some(_) => Err(Rejection::Closed { status: run.status() }),
        };
        self.writer.append(run, item, room, Some(reply), is_open)?;
        Ok(answer)
    }

    /// Items of a stream that are on disk.
    pub(crate) async fn items(
        &self,
        run: RunId,
        stream: StreamKey,
        query: StreamQuery,
    ) -> Result<Vec<StoredItem>> {
        let names = names(stream);
        let items = self.ask(move |store| store.stream(run, &names, query)).await?;
        // What a reader has seen must never be another item, whatever happens to the machine.
        self.items_durable().await?;
        Ok(items)
    }

    /// Whether the run has ended, which is on disk then.
    pub(crate) async fn has_ended(&self, run: RunId) -> Result<bool> {
        let Some(summary) = self.summary(run).await? else {
            return Err(Error::new(ErrorKind::NotFound, format!("run {run} is not in the store")));
        };
        if summary.status.is_closed() {
            self.all_durable().await?;
        }
        Ok(summary.status.is_closed())
    }
}

/// Refuses a value of a caller that is too large for the stream.
pub(crate) fn check_size(stream: StreamKey, value: &Payload) -> Result<(), StreamError> {
    let (bytes, max) = (value.as_bytes().len(), largest_item(stream.capacity, &ItemOrigin::Client));
    if bytes > max {
        return Err(StreamError::TooLarge { stream: stream.name, bytes, max });
    }
    Ok(())
}
