//! Timers that are near, in memory; the others stay in the store.
//!
//! Everything due up to a horizon is held here; what is set beyond it is only in the store, and is read
//! when the horizon moves on. So a million parked runs cost no memory, and the store is never asked from
//! its beginning.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::ids::{ExecutionNo, RunId};
use crate::store::{Due, Store, StoreError};
use crate::time::Timestamp;

/// How far the horizon moves at a time. Short enough to hold few timers, long enough to ask seldom.
const HORIZON: Duration = Duration::from_mins(1);

/// Timers of running and parked runs.
#[derive(Debug)]
pub(crate) struct Timers {
    near: Mutex<Near>,
    /// Told when an earlier timer than all others was set.
    changed: Notify,
    /// Timers read from the store at a time.
    page: usize,
}

#[derive(Debug)]
struct Near {
    due: BTreeSet<Due>,
    /// All set timers up to this one are in `due`. `None`: nothing was read yet.
    horizon: Option<Due>,
}

fn last_at(at: Timestamp) -> Due {
    Due { at, run: RunId::from_bytes([u8::MAX; 16]), execution: ExecutionNo(u64::MAX) }
}

impl Timers {
    pub(crate) fn new(page: usize) -> Self {
        Self { near: Mutex::new(Near { due: BTreeSet::new(), horizon: None }), changed: Notify::new(), page }
    }

    fn lock(&self) -> MutexGuard<'_, Near> {
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes timers that a commit has set and cleared.
    pub(crate) fn change(&self, set: &[Due], cleared: &[Due]) {
        if set.is_empty() && cleared.is_empty() {
            return;
        }
        let mut near = self.lock();
        for due in cleared {
            near.due.remove(due);
        }
        let first = near.due.first().copied();
        let horizon = near.horizon;
        near.due.extend(set.iter().filter(|due| horizon.is_some_and(|horizon| **due <= horizon)));
        let earlier = near.due.first().copied() != first;
        drop(near);
        if earlier {
            self.changed.notify_one();
        }
    }

    /// When there is something to do next: a timer to fire, or the horizon to move.
    pub(crate) fn next(&self) -> Timestamp {
        let near = self.lock();
        let first = near.due.first().map(|due| due.at);
        let horizon = near.horizon.map_or(Timestamp::EPOCH, |horizon| horizon.at);
        first.map_or(horizon, |first| first.min(horizon))
    }

    /// Completes when [`next`](Self::next) may have become earlier.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Takes the timers that are due at `now`.
    pub(crate) fn take(&self, now: Timestamp) -> Vec<Due> {
        let mut near = self.lock();
        let later =
            near.due.split_off(&Due { at: now.saturating_add(Duration::from_micros(1)), ..first_of_all() });
        std::mem::replace(&mut near.due, later).into_iter().collect()
    }

    /// Whether [`refill`](Self::refill) would ask the store.
    pub(crate) fn needs_refill(&self, now: Timestamp) -> bool {
        self.lock().horizon.is_none_or(|horizon| horizon.at <= now)
    }

    /// Keeps a timer that could not be fired, to be tried again.
    pub(crate) fn put_back(&self, due: Due) {
        self.lock().due.insert(due);
    }

    /// Reads what the store has up to a minute after `now`, if the horizon is near. Blocks.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store cannot be read; nothing is lost then, the next call reads it.
    pub(crate) fn refill(&self, store: &dyn Store, now: Timestamp) -> Result<(), StoreError> {
        let until = now.saturating_add(HORIZON);
        let before = {
            let mut near = self.lock();
            let before = near.horizon;
            if before.is_some_and(|horizon| horizon.at > now) {
                return Ok(());
            }
            // Moved before the store is read: a timer that is set meanwhile is either in what is read, or
            // comes to `change` after this and is kept.
            near.horizon = Some(last_at(until));
            before
        };
        match store.due(before.as_ref(), until, self.page) {
            Ok(read) => {
                let mut near = self.lock();
                if let Some(last) = read.last().filter(|_| read.len() >= self.page) {
                    // There may be more: only up to the last one everything is here. What was set beyond
                    // meanwhile will be read again.
                    near.horizon = Some(*last);
                    let beyond = near.due.split_off(last);
                    drop(beyond);
                }
                near.due.extend(read);
                Ok(())
            }
            Err(error) => {
                self.lock().horizon = before;
                Err(error)
            }
        }
    }
}

fn first_of_all() -> Due {
    Due { at: Timestamp::EPOCH, run: RunId::from_bytes([0; 16]), execution: ExecutionNo(0) }
}
