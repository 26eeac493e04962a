//! A clock that a test moves.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::time::{Clock, Sleep, Timestamp};

/// A clock that stands still until a test moves it. All clones are the same clock.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    now: watch::Sender<Timestamp>,
    sleepers: Arc<Sleepers>,
}

/// Where the clock starts: 2030-01-01, so that a test can also name instants before it.
pub(super) const START: Timestamp = Timestamp::from_micros(1_893_456_000_000_000);

impl Default for VirtualClock {
    fn default() -> Self {
        Self { now: watch::Sender::new(START), sleepers: Arc::default() }
    }
}

impl VirtualClock {
    /// Moves the clock on to `at`. It does not go back.
    pub fn set(&self, at: Timestamp) {
        self.now.send_if_modified(|now| {
            let later = at > *now;
            *now = at.max(*now);
            later
        });
    }

    /// Sets the clock back to `at`, as an operator or a time service may do with a machine's. It does not go forward.
    pub fn set_back(&self, at: Timestamp) {
        self.now.send_modify(|now| *now = at.min(*now));
    }

    /// The earliest instant that is still to come and that someone sleeps for.
    pub fn next_sleeper(&self) -> Option<Timestamp> {
        let now = self.now();
        self.sleepers.lock().waiting.iter().map(|(at, _)| *at).find(|at| *at > now)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        *self.now.borrow()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep {
        let mut now = self.now.subscribe();
        let sleeper = Sleeper::begin(&self.sleepers, at);
        Box::pin(async move {
            // The sender lives as long as the clock that made this.
            let _ = now.wait_for(|now| *now >= at).await;
            drop(sleeper);
        })
    }
}

#[derive(Debug, Default)]
struct Sleepers {
    state: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    waiting: BTreeSet<(Timestamp, u64)>,
    /// Tells sleepers of one instant apart.
    last: u64,
}

impl Sleepers {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Someone who sleeps. Dropping it leaves nothing behind.
struct Sleeper {
    all: Arc<Sleepers>,
    at: (Timestamp, u64),
}

impl Sleeper {
    fn begin(all: &Arc<Sleepers>, at: Timestamp) -> Self {
        let mut state = all.lock();
        state.last += 1;
        let at = (at, state.last);
        state.waiting.insert(at);
        drop(state);
        Self { all: Arc::clone(all), at }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.all.lock().waiting.remove(&self.at);
    }
}
