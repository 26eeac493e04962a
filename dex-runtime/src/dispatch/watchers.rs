//! Callers who want to know of each change to a run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::ids::{RunId, RunMap};

/// The callers who watch, by run. They are told that something has changed, and look themselves.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    watched: Mutex<Watched>,
    /// How many watch. Beside the lock, so that a commit costs nothing while nobody does.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct Watched {
    by_run: RunMap<OfRun>,
    stopped: bool,
}

/// Those who watch one run.
#[derive(Debug)]
struct OfRun {
    count: usize,
    changed: watch::Sender<()>,
}

/// A caller who watches a run. Dropping it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Watcher {
    watchers: Arc<Watchers>,
    run: RunId,
    changed: watch::Receiver<()>,
}

impl Watchers {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a caller. To be called before the caller looks at the run, or a change between the two
    /// would be missed.
    pub(crate) fn watch(self: &Arc<Self>, run: RunId) -> Watcher {
        let mut watched = self.lock();
        let changed = if watched.stopped {
            // Its sender is gone at once, which is how a watcher learns that this engine has ended.
            watch::Sender::new(()).subscribe()
        } else {
            let fresh = || OfRun { count: 0, changed: watch::Sender::new(()) };
            let of_run = watched.by_run.entry(run).or_insert_with(fresh);
            of_run.count += 1;
            of_run.changed.subscribe()
        };
        drop(watched);
        // A change that the caller does not see when it looks is decided after that look, under the run's
        // lock; so whoever tells of it sees this count.
        self.count.fetch_add(1, Ordering::AcqRel);
        Watcher { watchers: Arc::clone(self), run, changed }
    }

    /// Tells those who watch this run that it has changed.
    pub(crate) fn note_change(&self, run: RunId) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        if let Some(of_run) = self.lock().by_run.get(&run) {
            of_run.changed.send_replace(());
        }
    }

    /// Tells those who watch these runs that they have changed.
    ///
    /// For changes that are not made under the run's lock. This takes the watchers' own, so a caller who was not
    /// registered yet looks after the change was written, and sees it.
    pub(crate) fn note_changes(&self, runs: impl IntoIterator<Item = RunId>) {
        let watched = self.lock();
        for of_run in runs.into_iter().filter_map(|run| watched.by_run.get(&run)) {
            of_run.changed.send_replace(());
        }
    }

    /// Lets everyone go, now and later: they have to look again elsewhere.
    pub(crate) fn stop(&self) {
        let gone = {
            let mut watched = self.lock();
            watched.stopped = true;
            std::mem::take(&mut watched.by_run)
        };
        drop(gone);
    }

    #[cfg(test)]
    fn registered(&self) -> (usize, usize) {
        (self.lock().by_run.len(), self.count.load(Ordering::Acquire))
    }
}

impl Watcher {
    /// Completes once the run has changed since the last call; gives whether it can still be watched here.
    pub(crate) async fn changed(&mut self) -> bool {
        self.changed.changed().await.is_ok()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watchers.count.fetch_sub(1, Ordering::AcqRel);
        let mut watched = self.watchers.lock();
        if let Some(of_run) = watched.by_run.get_mut(&self.run) {
            of_run.count -= 1;
            if of_run.count == 0 {
                watched.by_run.remove(&self.run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u8) -> RunId {
        RunId::from_bytes([number; 16])
    }

    #[tokio::test]
    async fn a_dropped_watcher_leaves_nothing_behind() {
        let watchers = Arc::new(Watchers::default());
        let (first, second) = (watchers.watch(run(1)), watchers.watch(run(1)));
        let other = watchers.watch(run(2));
        assert_eq!(watchers.registered(), (2, 3));
        drop(first);
        assert_eq!(watchers.registered(), (2, 2));
        drop((second, other));
        assert_eq!(watchers.registered(), (0, 0));
    }

    #[tokio::test]
    async fn a_change_before_the_caller_waits_is_not_missed() {
        let watchers = Arc::new(Watchers::default());
        let (mut first, mut second) = (watchers.watch(run(1)), watchers.watch(run(1)));
        let mut other = watchers.watch(run(2));
        watchers.note_change(run(1));
        assert!(first.changed().await);
        assert!(second.changed().await);
        watchers.stop();
        assert!(!other.changed().await, "it was told of no change of another run");
    }

    #[tokio::test]
    async fn changes_of_several_runs_are_told_at_once() {
        let watchers = Arc::new(Watchers::default());
        let (mut first, mut second) = (watchers.watch(run(1)), watchers.watch(run(2)));
        watchers.note_changes([run(1), run(2), run(3)]);
        assert!(first.changed().await && second.changed().await);
    }

    #[tokio::test]
    async fn who_watches_a_stopped_engine_is_told_so() {
        let watchers = Arc::new(Watchers::default());
        let mut before = watchers.watch(run(1));
        watchers.stop();
        let mut after = watchers.watch(run(1));
        assert!(!before.changed().await);
        assert!(!after.changed().await);
        drop((before, after));
        assert_eq!(watchers.registered(), (0, 0));
    }
}
