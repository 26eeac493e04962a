//! Whether the engine has anything to do: what a test waits for before it moves the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Counts what is under way: commits to be written, handler calls, timers that fire, recovery.
///
/// Whatever makes new work is itself under way until the new work is counted, so the count is zero only
/// when nothing can happen without a call or the passing of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    busy: AtomicUsize,
    idle: Notify,
}

/// Something under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Inner>);

impl Activity {
    pub(crate) fn begin(&self) -> Busy {
        self.0.busy.fetch_add(1, Ordering::AcqRel);
        Busy(Arc::clone(&self.0))
    }

    /// Completes once nothing is under way.
    pub(crate) async fn idle(&self) {
        loop {
            let idle = self.0.idle.notified();
            if self.0.busy.load(Ordering::Acquire) == 0 {
                return;
            }
            idle.await;
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}
