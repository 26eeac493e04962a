//! A clock that a test moves.

use tokio::sync::watch;

use crate::time::{Clock, Sleep, Timestamp};

/// A clock that stands still until a test moves it. All clones are the same clock.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    now: watch::Sender<Timestamp>,
}

/// Where the clock starts: 2030-01-01, so that a test can also name instants before it.
const START: Timestamp = Timestamp::from_micros(1_893_456_000_000_000);

impl Default for VirtualClock {
    fn default() -> Self {
        Self { now: watch::Sender::new(START) }
    }
}

impl VirtualClock {
    /// Moves the clock to `at`. It never goes back.
    pub fn set(&self, at: Timestamp) {
        self.now.send_if_modified(|now| {
            let later = at > *now;
            *now = at.max(*now);
            later
        });
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        *self.now.borrow()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep {
        let mut now = self.now.subscribe();
        Box::pin(async move {
            // The sender lives as long as the clock that made this.
            let _ = now.wait_for(|now| *now >= at).await;
        })
    }
}
