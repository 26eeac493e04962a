//! Whether an engine has anything to do: what a test waits for before it moves the clock. Other engines do not count.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Counts what is under way: commits to be written, handler calls, timers that fire, recovery.
///
/// Whatever makes new work is itself under way until the new work is counted, so the count is zero only
/// when nothing can happen without a call or the passing of time.
///
/// Without a count, nothing is counted: several threads would write to one place several times for each step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity(Option<Arc<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    busy: AtomicUsize,
    /// How many of them are handler calls that await something, or wait for their turn behind such.
    awaiting: AtomicUsize,
    /// Grows whenever something begins, ends or goes on.
    progress: AtomicU64,
    idle: Notify,
}

/// Something under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Busy {
    all: Option<Arc<Inner>>,
    /// Whether it waits for its turn.
    waits: bool,
}

impl Activity {
    /// One that counts.
    pub(crate) fn counted() -> Self {
        Self(Some(Arc::default()))
    }

    pub(crate) fn begin(&self) -> Busy {
        if let Some(all) = &self.0 {
            all.busy.fetch_add(1, Ordering::AcqRel);
            all.progress.fetch_add(1, Ordering::AcqRel);
        }
        Busy { all: self.0.clone(), waits: false }
    }

    /// Completes once nothing is under way; at once if nothing is counted.
    pub(crate) async fn idle(&self) {
        let Some(all) = &self.0 else { return };
        loop {
            let idle = all.idle.notified();
            if all.busy.load(Ordering::Acquire) == 0 {
                return;
            }
            idle.await;
        }
    }

    /// If nothing is under way but handler calls that await something, and those that wait for them: a number that
    /// changes as soon as one of them goes on. They may be meant to hang.
    pub(crate) fn only_awaiting(&self) -> Option<u64> {
        let all = self.0.as_deref()?;
        let before = all.progress.load(Ordering::Acquire);
        let only = all.awaiting.load(Ordering::Acquire) == all.busy.load(Ordering::Acquire);
        (only && all.progress.load(Ordering::Acquire) == before).then_some(before)
    }
}

impl Busy {
    /// It is not its turn: it goes on when another has ended.
    pub(crate) fn wait(&mut self) {
        if let Some(all) = &self.all
            && !std::mem::replace(&mut self.waits, true)
        {
            all.awaiting.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// It is its turn.
    pub(crate) fn go_on(&mut self) {
        if let Some(all) = &self.all
            && std::mem::take(&mut self.waits)
        {
            all.awaiting.fetch_sub(1, Ordering::AcqRel);
            all.progress.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Runs a handler call to its end, and notes while it awaits something.
    pub(crate) async fn handler<T>(&self, mut call: Pin<&mut impl Future<Output = T>>) -> T {
        let Some(all) = &self.all else { return call.await };
        let mut awaiting = None;
        poll_fn(|cx| {
            awaiting = None;
            let polled = call.as_mut().poll(cx);
            if polled.is_pending() {
                awaiting = Some(Awaiting::begin(all));
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
        self.go_on();
        if let Some(all) = &self.all
            && all.busy.fetch_sub(1, Ordering::AcqRel) == 1
        {
            all.idle.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn calls_that_wait_for_their_turn_behind_one_that_hangs_hang_as_well() {
        let activity = Activity::counted();
        let (hangs, mut next) = (activity.begin(), activity.begin());
        let mut call = pin!(pending::<()>());
        let mut hanging = pin!(hangs.handler(call.as_mut()));
        assert_eq!(hanging.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
        assert_eq!(activity.only_awaiting(), None, "the other one is about to be called");
        next.wait();
        let before = activity.only_awaiting();
        assert!(before.is_some());
        next.go_on();
        assert_eq!(activity.only_awaiting(), None);
        next.wait();
        assert_ne!(activity.only_awaiting(), before, "something has happened in between");
        drop(next);
        assert!(activity.only_awaiting().is_some());
    }
}
