//! Waiting calls: futures that can be given a budget.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use super::untyped::UntypedRun;
use crate::error::{Error, ErrorKind, Result};
use crate::time::{Clock, Sleep, Timestamp};

/// Longest time beyond a budget that the first look at the store may take: a look takes milliseconds, and a disk that
/// hangs must not hold up who has given a budget.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// Whether a waiting call has seen that what it waits for is not on disk yet. Its budget counts from there on, so that
/// what is there already comes within no time at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked(Arc<AtomicBool>);

impl Looked {
    /// Notes that there is nothing yet, or that nobody can look now.
    pub(super) fn in_vain(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A call that waits for something of a run. Await it, with a [`timeout`](Self::timeout) or without.
///
/// Without one it waits as long as it takes, over any number of openings of the store. Dropping it leaves
/// nothing behind and changes nothing.
///
/// ```
/// # use std::time::Duration;
/// # use dex_runtime::definition::Flow;
/// # use dex_runtime::{ErrorKind, Result, RunHandle};
/// # async fn example<F: Flow<Output = String>>(run: RunHandle<F>) -> Result<()> {
/// match run.output().timeout(Duration::from_secs(30)).await {
///     Ok(output) => assert!(output.starts_with("shipped")),
///     Err(error) if error.kind() == ErrorKind::Timeout => println!("{}", run.describe().await?.explain()),
///     Err(error) => return Err(error),
/// }
/// # Ok(()) }
/// ```
#[must_use = "nothing is waited for until this is awaited"]
pub struct Waiting<T> {
    call: Pin<Box<dyn Future<Output = Result<T>> + Send>>,
    /// What is waited for, for the error.
    what: String,
    clock: Arc<dyn Clock>,
    looked: Looked,
    budget: Option<Budget>,
}

struct Budget {
    length: Duration,
    deadline: Timestamp,
    sleep: Sleep,
}

impl<T> Waiting<T> {
    pub(super) fn new<C>(run: &UntypedRun, what: &str, call: impl FnOnce(Looked) -> C) -> Self
    where
        C: Future<Output = Result<T>> + Send + 'static,
    {
        let what = format!("{what} of run `{}`", run.flow_id);
        let (looked, clock) = (Looked::default(), Arc::clone(run.core.clock()));
        Self { call: Box::pin(call(looked.clone())), what, clock, looked, budget: None }
    }

    /// Waits for at most `length` from now, by the engine's clock; then the call fails with
    /// [`ErrorKind::Timeout`]. What was waited for may still come.
    ///
    /// What is on disk already comes within every budget, [`Duration::ZERO`] included: one look is taken first,
    /// which may take some seconds if the disk does.
    pub fn timeout(self, length: Duration) -> Self {
        let deadline = self.clock.now().saturating_add(length);
        let sleep = self.clock.sleep_until(deadline);
        Self { budget: Some(Budget { length, deadline, sleep }), ..self }
    }
}

impl<T> Future for Waiting<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let this = self.get_mut();
        if let Poll::Ready(done) = this.call.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        let Some(budget) = &mut this.budget else { return Poll::Pending };
        let looked = this.looked.0.load(Ordering::Acquire);
        let until = if looked { budget.deadline } else { budget.deadline.saturating_add(LOOK_MAX) };
        loop {
            if this.clock.now() >= until {
                let message = format!("{} did not come within {:?}", this.what, budget.length);
                return Poll::Ready(Err(Error::new(ErrorKind::Timeout, message)));
            }
            if budget.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            budget.sleep = this.clock.sleep_until(until);
        }
    }
}

impl<T> fmt::Debug for Waiting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let budget = self.budget.as_ref().map(|budget| budget.length);
        f.debug_struct("Waiting").field("what", &self.what).field("budget", &budget).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;
    use crate::testing::VirtualClock;

    struct Polled<T>(Waiting<T>);

    impl<T> Polled<T> {
        fn poll(&mut self) -> Poll<Result<T>> {
            Pin::new(&mut self.0).poll(&mut Context::from_waker(std::task::Waker::noop()))
        }
    }

    fn waiting(clock: &VirtualClock, call: impl Future<Output = Result<u8>> + Send + 'static) -> Waiting<u8> {
        let clock: Arc<dyn Clock> = Arc::new(clock.clone());
        let looked = Looked::default();
        looked.in_vain();
        Waiting { call: Box::pin(call), what: "the answer".into(), clock, looked, budget: None }
    }

    #[tokio::test]
    async fn a_dropped_wait_leaves_no_sleeper_behind() {
        let clock = VirtualClock::default();
        let wait = waiting(&clock, pending()).timeout(Duration::from_secs(1));
        assert_eq!(clock.next_sleeper(), Some(clock.now().saturating_add(Duration::from_secs(1))));
        drop(wait);
        assert_eq!(clock.next_sleeper(), None);
        assert_eq!(waiting(&clock, ready(Ok(7))).timeout(Duration::from_secs(1)).await.unwrap(), 7);
        assert_eq!(clock.next_sleeper(), None);
    }

    #[tokio::test]
    async fn what_has_come_counts_even_after_the_deadline() {
        let clock = VirtualClock::default();
        let wait = waiting(&clock, ready(Ok(7))).timeout(Duration::ZERO);
        clock.set(clock.now().saturating_add(Duration::from_secs(5)));
        assert_eq!(wait.await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_budget_does_not_end_before_the_first_look_unless_that_hangs() {
        let clock = VirtualClock::default();
        let mut wait = waiting(&clock, pending());
        wait.looked = Looked::default();
        let looked = wait.looked.clone();
        let mut wait = Polled(wait.timeout(Duration::ZERO));
        assert!(wait.poll().is_pending());
        clock.set(clock.now().saturating_add(LOOK_MAX));
        assert!(wait.poll().is_ready(), "a look that hangs holds nobody up");

        let mut wait = waiting(&clock, pending());
        wait.looked = looked.clone();
        let mut wait = Polled(wait.timeout(Duration::ZERO));
        assert!(wait.poll().is_pending());
        looked.in_vain();
        assert!(wait.poll().is_ready(), "there is nothing");
    }

    /// A clock that wakes its sleepers too early, as the system's does once it was changed.
    #[derive(Debug)]
    struct Hasty(VirtualClock);

    impl Clock for Hasty {
        fn now(&self) -> Timestamp {
            let now = self.0.now();
            self.0.set(now.saturating_add(Duration::from_millis(400)));
            now
        }

        fn sleep_until(&self, _at: Timestamp) -> Sleep {
            Box::pin(ready(()))
        }
    }

    #[tokio::test]
    async fn a_clock_that_wakes_too_early_ends_no_budget() {
        let clock = VirtualClock::default();
        let start = clock.now();
        let mut wait = waiting(&clock, pending());
        wait.clock = Arc::new(Hasty(clock.clone()));
        let error = wait.timeout(Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert_eq!(error.to_string(), "the answer did not come within 1s");
        assert!(clock.now().since(start) > Duration::from_secs(1));
    }
}
