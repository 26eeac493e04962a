//! The thread that writes.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::queue::{Committer, Waiting};
use crate::store::{Store, StoreError};

/// Who is told what became of commits.
pub(crate) trait Sink<A>: Send + 'static {
    /// These are on disk, in this order.
    fn written(&self, after: &mut Vec<A>);

    /// It is not known whether these are on disk, and nothing more will be written.
    fn failed(&self, fault: &StoreError, after: Vec<A>);
}

/// Starts the thread that writes what is enqueued at `committer`. It ends after [`Committer::end`], or
/// with the first commit that fails.
pub(crate) fn spawn<A: Send + 'static>(
    committer: Arc<Committer<A>>,
    store: Arc<dyn Store>,
    transitions_max: usize,
    sink: impl Sink<A>,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("dex-commit".into()).spawn(move || {
        // Two buffers take turns, so that a busy engine allocates none.
        let mut batch = Waiting { commits: Vec::new(), after: Vec::new() };
        while let Some(ticket) = committer.take(transitions_max, &mut batch) {
            match store.commit(&batch.commits, true) {
                Ok(()) => {
                    committer.note_written(ticket, batch.commits.len());
                    batch.commits.clear();
                    sink.written(&mut batch.after);
                    batch.after.clear();
                }
                Err(fault) => {
                    tracing::error!(%fault, commits = batch.commits.len(), "a commit failed; the engine stops");
                    committer.note_fault(fault.clone());
                    let mut after = std::mem::take(&mut batch.after);
                    after.extend(committer.drain());
                    sink.failed(&fault, after);
                    return;
                }
            }
        }
    })
}
