//! Timers that are near, in memory; the others stay in the store.
//!
//! Everything due up to a horizon is held here; what is set beyond it is only in the store, and is read
//! when the horizon moves on. So a million parked runs cost no memory, and the store is never asked from
//! its beginning. The horizon lies right before the first timer that is not held, so an engine with few
//! timers never asks in vain.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::ids::{ExecutionNo, RunId};
use crate::store::{Due, Store, StoreError};
use crate::time::Timestamp;

/// How far the horizon moves at least. Short enough to hold few timers, long enough to ask seldom.
const HORIZON: Duration = Duration::from_mins(1);

/// Timers of running and parked runs.
#[derive(Debug)]
pub(crate) struct Timers {
    near: Mutex<Near>,
    /// Told when an earlier timer than all others was set.
    changed: Notify,
    /// Timers read from the store at a time. Twice as many are held at most.
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
        near.shrink(self.page);
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

    /// Keeps a timer that was taken and is not due at `now` after all, since the clock was set back meanwhile. One
    /// that is due has fired already, or was cleared.
    pub(crate) fn keep_early(&self, due: Due, now: Timestamp) {
        if due.at > now {
            self.put_back(due);
        }
    }

    /// Reads what the store has up to a minute after `now` at least, if the horizon is near. Blocks.
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
            near.horizon = Some(last_at(Timestamp::MAX));
            before
        };
        let read = store.due(before.as_ref(), until, self.page).and_then(|read| {
            let rest = if read.len() < self.page {
                store.due(Some(&last_at(until)), Timestamp::MAX, 1)?.first().map(|next| just_before(*next))
            } else {
                read.last().copied()
            };
            Ok((read, rest))
        });
        let mut near = self.lock();
        match read {
            Ok((read, rest)) => {
                near.due.extend(read);
                if let Some(horizon) = rest {
                    near.end_at(horizon);
                }
                Ok(())
            }
            Err(error) => {
                near.horizon = before;
                Err(error)
            }
        }
    }
}

impl Near {
    /// Moves the horizon back. What was set beyond it will be read again.
    fn end_at(&mut self, horizon: Due) {
        self.due.retain(|due| *due <= horizon);
        self.horizon = Some(horizon);
    }

    /// Holds no more than `page` timers, once there are twice as many.
    fn shrink(&mut self, page: usize) {
        if self.due.len() > page.saturating_mul(2)
            && let Some(last) = self.due.iter().nth(page.saturating_sub(1)).copied()
        {
            self.end_at(last);
        }
    }
}

fn just_before(due: Due) -> Due {
    let earlier = Timestamp::from_micros(due.at.as_micros() - 1);
    last_at(earlier)
}

fn first_of_all() -> Due {
    Due { at: Timestamp::EPOCH, run: RunId::from_bytes([0; 16]), execution: ExecutionNo(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_is_not_due_after_all_is_kept_and_one_that_was_is_not() {
        let at = |micros| Timestamp::from_micros(micros);
        let due = Due { at: at(5), ..first_of_all() };
        let timers = Timers::new(10);
        timers.put_back(due);
        assert_eq!(timers.take(at(5)), [due]);
        timers.keep_early(due, at(4));
        assert_eq!(timers.take(at(4)), []);
        assert_eq!(timers.take(at(5)), [due]);
        timers.keep_early(due, at(5));
        assert_eq!(timers.take(at(9)), []);
    }
}
