//! The thread that writes.
//!
//! Commits that need no sync of their own, and items of streams, are written without one if nothing else in the
//! batch needs it; the next sync, which comes soon, makes them durable too.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::queue::{Batch, Committer, Reach, Turn};
use crate::store::{Store, StoreError};
use crate::time::Stopwatch;

/// Who is told what became of commits.
pub(crate) trait Sink<A, B>: Send + 'static {
    /// These items are written, with the offsets that they got, and on disk if any of them had to be.
    fn appended(&self, appended: &mut dyn Iterator<Item = (B, u64)>);

    /// These are written, in this order, and on disk if any of them had to be.
    fn written(&self, after: &mut Vec<A>);

    /// Nothing more will be written. Called before anyone can see the fault in another way, so that whoever does finds
    /// what follows from it done.
    fn failing(&self, fault: &StoreError);

    /// It is not known whether these are on disk.
    fn failed(&self, fault: &StoreError, after: Vec<A>, appended: Vec<B>);
}

/// Starts the thread that writes what is enqueued at `committer`. It ends after [`Committer::end`], or
/// with the first commit that fails.
pub(crate) fn spawn<A: Send + 'static, B: Send + 'static>(
    committer: Arc<Committer<A, B>>,
    store: Arc<dyn Store>,
    sink: impl Sink<A, B>,
    sync_after: Duration,
) -> io::Result<JoinHandle<()>> {
    let unsettled = Some(Stopwatch::start());
    let writer = Writer { committer, store, sink, sync_after, unsynced: None, unsettled };
    std::thread::Builder::new().name("dex-commit".into()).spawn(move || writer.run())
}

/// Longest time for which what was written without a sync stays so, while nobody waits for it. A sync takes a
/// fraction of a millisecond, so twenty a second are nothing; and a machine that loses power takes no more than
/// this with it.
pub(crate) const SYNC_AFTER: Duration = Duration::from_millis(50);

/// How often the store is asked to [settle](Store::settle): what it has to do then matters to nobody within a second.
const SETTLE_AFTER: Duration = Duration::from_secs(1);

struct Writer<A, B, S> {
    committer: Arc<Committer<A, B>>,
    store: Arc<dyn Store>,
    sink: S,
    /// Longest time for which what was written without a sync stays so.
    sync_after: Duration,
    /// How far was written without a sync, and since when.
    unsynced: Option<(Reach, Stopwatch)>,
    /// When the store was last asked to settle. `None`: it has, and nothing was written since.
    unsettled: Option<Stopwatch>,
}

impl<A, B, S: Sink<A, B>> Writer<A, B, S> {
    fn run(mut self) {
        // Two buffers take turns, so that a busy engine allocates none.
        let mut batch = Batch::new();
        loop {
            let done = match self.committer.take(&mut batch, || self.patience()) {
                Turn::Write(reach) => self.write(reach, &mut batch),
                Turn::Sync => self.sync(),
                Turn::Idle => self.idle(),
                Turn::Ended => {
                    if let Err(fault) = self.sync() {
                        self.fail(&fault, &mut batch);
                    }
                    return self.committer.note_ended();
                }
            };
            if let Err(fault) = done {
                return self.fail(&fault, &mut batch);
            }
        }
    }

    /// How long it waits for something to write before it has something else to do.
    fn patience(&self) -> Option<Duration> {
        let sync = self.unsynced.map(|(_, since)| since.rest(self.sync_after));
        let settle = self.unsettled.map(|since| since.rest(SETTLE_AFTER));
        sync.into_iter().chain(settle).min()
    }

    /// Does what was waited for.
    fn idle(&mut self) -> Result<(), StoreError> {
        if self.unsynced.is_some_and(|(_, since)| since.rest(self.sync_after).is_zero()) {
            self.sync()?;
        }
        self.settle();
        Ok(())
    }

    /// Lets the store settle, if it is time for that.
    fn settle(&mut self) {
        if self.unsettled.is_some_and(|since| since.rest(SETTLE_AFTER).is_zero()) {
            self.unsettled = self.store.settle().then(Stopwatch::start);
        }
    }

    fn write(&mut self, reach: Reach, batch: &mut Batch<A, B>) -> Result<(), StoreError> {
        let late = self.unsynced.is_some_and(|(_, since)| since.rest(self.sync_after).is_zero());
        let durable = late || batch.is_durable();
        let offsets = self.store.write(&batch.chunk.commits, &batch.appends.appends, durable)?;
        self.committer.note_taken(batch.chunk.commits.len());
        if durable {
            self.unsynced = None;
            self.committer.note_written(reach);
        } else {
            let since = self.unsynced.map_or_else(Stopwatch::start, |(_, since)| since);
            self.unsynced = Some((reach, since));
        }
        if !offsets.is_empty() {
            self.sink.appended(&mut batch.appends.after.drain(..).zip(offsets));
        }
        if !batch.chunk.after.is_empty() {
            self.sink.written(&mut batch.chunk.after);
        }
        batch.clear();
        self.unsettled.get_or_insert_with(Stopwatch::start);
        self.settle();
        Ok(())
    }

    /// Makes durable what was written without a sync.
    fn sync(&mut self) -> Result<(), StoreError> {
        let Some((reach, _)) = self.unsynced else { return Ok(()) };
        self.store.commit(&[], true)?;
        self.unsynced = None;
        self.committer.note_written(reach);
        Ok(())
    }

    fn fail(&self, fault: &StoreError, batch: &mut Batch<A, B>) {
        tracing::error!(%fault, commits = batch.chunk.commits.len(), "a commit failed; the engine stops");
        self.sink.failing(fault);
        self.committer.note_fault(fault.clone());
        let mut after = std::mem::take(&mut batch.chunk.after);
        let mut appended = std::mem::take(&mut batch.appends.after);
        let (more_after, more_appended) = self.committer.drain();
        after.extend(more_after);
        appended.extend(more_appended);
        self.sink.failed(fault, after, appended);
    }
}
