//! One handler call: polled until it ends, fails, takes too long, or is called off.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::sync::oneshot;

use super::panic::catch;
use crate::definition::call::CallFuture;
use crate::engine::{Failure, FailureKind};
use crate::time::{Clock, Sleep, Timestamp};

/// How a handler call ended.
#[derive(Debug)]
pub(crate) enum Ended<T> {
    /// The handler returned.
    Returned(T),
    /// The handler panicked.
    Panicked(Failure),
    /// The time was up; the handler was dropped.
    TimedOut,
    /// Nobody wants the result any more; the handler was dropped.
    CalledOff,
}

/// When a call has to end.
#[derive(Debug)]
pub(crate) struct Deadline {
    clock: Arc<dyn Clock>,
    at: Timestamp,
    sleep: Waiting,
}

struct Waiting(Sleep);

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sleep")
    }
}

impl Deadline {
    pub(crate) fn new(clock: &Arc<dyn Clock>, at: Timestamp) -> Self {
        Self { clock: Arc::clone(clock), at, sleep: Waiting(clock.sleep_until(at)) }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.sleep.0.as_mut().poll(cx).is_ready() {
            // The clock may wake early.
            if self.clock.now() >= self.at {
                return Poll::Ready(());
            }
            self.sleep = Waiting(self.clock.sleep_until(self.at));
        }
        Poll::Pending
    }
}

/// Calls a handler.
pub(crate) async fn call<T>(
    handler: CallFuture<T>,
    mut called_off: Option<oneshot::Receiver<()>>,
    mut deadline: Option<Deadline>,
) -> Ended<T> {
    let mut handler = Handler(Some(handler));
    poll_fn(|cx| {
        if let Some(called_off) = &mut called_off
            && Pin::new(called_off).poll(cx).is_ready()
        {
            return Poll::Ready(handler.drop_it(Ended::CalledOff));
        }
        if let Poll::Ready(ended) = handler.poll(cx) {
            return Poll::Ready(ended);
        }
        if let Some(deadline) = &mut deadline
            && deadline.poll(cx).is_ready()
        {
            return Poll::Ready(handler.drop_it(Ended::TimedOut));
        }
        Poll::Pending
    })
    .await
}

/// Runs a handler that does not await, where it may block.
pub(crate) fn run_blocking<T>(handler: CallFuture<T>) -> Ended<T> {
    let mut handler = Handler(Some(handler));
    match handler.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(ended) => ended,
        Poll::Pending => Ended::Panicked(Failure {
            kind: FailureKind::Unworkable,
            type_name: String::new(),
            message: "a plain `fn` handler awaited something: make it an `async fn`".to_owned(),
            chain: Vec::new(),
            place: None,
        }),
    }
}

/// A handler whose every piece, its end included, runs under a catch.
struct Handler<T>(Option<CallFuture<T>>);

impl<T> Handler<T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ended<T>> {
        let Some(future) = &mut self.0 else { return Poll::Pending };
        match catch(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(self.drop_it(Ended::Returned(value))),
            Err(failure) => Poll::Ready(self.drop_it(Ended::Panicked(failure))),
        }
    }

    /// Drops the handler; a panic on the way is its failure.
    fn drop_it(&mut self, ended: Ended<T>) -> Ended<T> {
        let future = self.0.take();
        match catch(|| drop(future)) {
            Ok(()) => ended,
            Err(failure) => Ended::Panicked(failure),
        }
    }
}

impl<T> Drop for Handler<T> {
    fn drop(&mut self) {
        let future = self.0.take();
        if let Err(failure) = catch(|| drop(future)) {
            tracing::warn!(message = failure.message, "a handler panicked while it was dropped");
        }
    }
}
