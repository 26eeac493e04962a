//! Waiting calls: futures that can be given a budget.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::untyped::UntypedRun;
use crate::error::{Error, ErrorKind, Result};
use crate::time::{Clock, Sleep, Timestamp};

/// A call that waits for something of a run. Await it, with a [`timeout`](Self::timeout) or without.
///
/// Without one it waits as long as it takes, over any number of openings of the store. Dropping it leaves
/// nothing behind and changes nothing.
#[must_use = "nothing is waited for until this is awaited"]
pub struct Waiting<T> {
    call: Pin<Box<dyn Future<Output = Result<T>> + Send>>,
    /// What is waited for, for the error.
    what: String,
    clock: Arc<dyn Clock>,
    budget: Option<Budget>,
}

struct Budget {
    length: Duration,
    deadline: Timestamp,
    sleep: Sleep,
}

impl<T> Waiting<T> {
    pub(super) fn new(
        run: &UntypedRun,
        what: &str,
        call: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Self {
        let what = format!("{what} of run `{}`", run.flow_id);
        Self { call: Box::pin(call), what, clock: Arc::clone(run.core.clock()), budget: None }
    }

    /// Waits for at most `length` from now, by the engine's clock; then the call fails with
    /// [`ErrorKind::Timeout`]. What was waited for may still come.
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
        while budget.sleep.as_mut().poll(cx).is_ready() {
            if this.clock.now() >= budget.deadline {
                let message = format!("{} did not come within {:?}", this.what, budget.length);
                return Poll::Ready(Err(Error::new(ErrorKind::Timeout, message)));
            }
            budget.sleep = this.clock.sleep_until(budget.deadline);
        }
        Poll::Pending
    }
}

impl<T> fmt::Debug for Waiting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let budget = self.budget.as_ref().map(|budget| budget.length);
        f.debug_struct("Waiting").field("what", &self.what).field("budget", &budget).finish_non_exhaustive()
    }
}
