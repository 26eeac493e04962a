//! Callers who wait for the end of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::engine::RunEnd;
use crate::ids::{RunId, RunMap};

/// Wakes one caller.
type Wake = oneshot::Sender<Arc<RunEnd>>;

/// The callers who wait, by run.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    by_run: RunMap<Vec<(u64, Wake)>>,
    /// Tells the waiters of one run apart.
    last: u64,
    stopped: bool,
}

/// A caller who waits. Dropping it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiters: Arc<Waiters>,
    run: RunId,
    number: u64,
    end: oneshot::Receiver<Arc<RunEnd>>,
}

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a caller. To be called before the caller looks at the run, or an end between the two
    /// would be missed.
    pub(crate) fn register(self: &Arc<Self>, run: RunId) -> Waiter {
        let (sender, end) = oneshot::channel();
        let mut waiting = self.lock();
        waiting.last += 1;
        let number = waiting.last;
        if !waiting.stopped {
            waiting.by_run.entry(run).or_default().push((number, sender));
        }
        drop(waiting);
        Waiter { waiters: Arc::clone(self), run, number, end }
    }

    /// Wakes those who wait for this run.
    pub(crate) fn wake(&self, run: RunId, end: &Arc<RunEnd>) {
        let woken = self.lock().by_run.remove(&run);
        for (_, sender) in woken.into_iter().flatten() {
            // A caller who has gone meanwhile does not mind.
            let _ = sender.send(Arc::clone(end));
        }
    }

    /// Wakes everyone with nothing, now and later: they have to look again elsewhere.
    pub(crate) fn stop(&self) {
        let woken = {
            let mut waiting = self.lock();
            waiting.stopped = true;
            std::mem::take(&mut waiting.by_run)
        };
        drop(woken);
    }

    #[cfg(test)]
    fn registered(&self) -> usize {
        self.lock().by_run.values().map(Vec::len).sum()
    }
}

impl Waiter {
    /// The run's end; `None` if this engine will not see it.
    pub(crate) async fn end(&mut self) -> Option<Arc<RunEnd>> {
        (&mut self.end).await.ok()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.waiters.lock();
        if let Some(of_run) = waiting.by_run.get_mut(&self.run) {
            of_run.retain(|(number, _)| *number != self.number);
            if of_run.is_empty() {
                waiting.by_run.remove(&self.run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dropped_waiter_leaves_nothing_behind() {
        let waiters = Arc::new(Waiters::default());
        let run = RunId::from_bytes([1; 16]);
        let (first, second) = (waiters.register(run), waiters.register(run));
        assert_eq!(waiters.registered(), 2);
        drop(first);
        assert_eq!(waiters.registered(), 1);
        drop(second);
        assert_eq!(waiters.registered(), 0);
    }

    #[tokio::test]
    async fn who_waits_on_a_stopped_engine_is_told_so() {
        let waiters = Arc::new(Waiters::default());
        let mut before = waiters.register(RunId::from_bytes([1; 16]));
        waiters.stop();
        let mut after = waiters.register(RunId::from_bytes([1; 16]));
        assert!(before.end().await.is_none());
        assert!(after.end().await.is_none());
    }
}
