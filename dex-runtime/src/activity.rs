//! Whether the engine has anything to do: what a test waits for before it moves the clock.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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
    /// How many of them are handler calls that await something.
    awaiting: AtomicUsize,
    /// Grows whenever something begins, ends or goes on.
    progress: AtomicU64,
    idle: Notify,
}

/// Something under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Inner>);

impl Activity {
    pub(crate) fn begin(&self) -> Busy {
        self.0.busy.fetch_add(1, Ordering::AcqRel);
        self.0.progress.fetch_add(1, Ordering::AcqRel);
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

    /// If nothing is under way but handler calls that await something: a number that changes as soon as one
    /// of them goes on. They may be meant to hang.
    pub(crate) fn only_awaiting(&self) -> Option<u64> {
        let before = self.0.progress.load(Ordering::Acquire);
        let all = self.0.awaiting.load(Ordering::Acquire) == self.0.busy.load(Ordering::Acquire);
        (all && self.0.progress.load(Ordering::Acquire) == before).then_some(before)
    }
}

impl Busy {
    /// Runs a handler call to its end, and notes while it awaits something.
    pub(crate) async fn handler<T>(&self, mut call: Pin<&mut impl Future<Output = T>>) -> T {
        let mut awaiting = None;
        poll_fn(|cx| {
            awaiting = None;
            let polled = call.as_mut().poll(cx);
            if polled.is_pending() {
                awaiting = Some(Awaiting::begin(&self.0));
            }
            polled
        })
        .await
    }
}

/// A handler call that awaits something, until it is dropped.
struct Awaiting<'a>(&'a Inner);

impl<'a> Awaiting<'a> {
    fn begin(inner: &'a Inner) -> Self {
        inner.awaiting.fetch_add(1, Ordering::AcqRel);
        Self(inner)
    }
}

impl Drop for Awaiting<'_> {
    fn drop(&mut self) {
        self.0.awaiting.fetch_sub(1, Ordering::AcqRel);
        self.0.progress.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}
