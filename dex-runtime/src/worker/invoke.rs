//! One handler call: polled until it ends, fails, takes too long, or is called off.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::panic::catch;
use crate::definition::Streams;
use crate::definition::call::CallFuture;
use crate::engine::{Failure, FailureKind};
use crate::signal::Signal;
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
    /// It gave no sign of life in time; the handler was dropped.
    Silent,
    /// Nobody wants the result any more; the handler was dropped.
    CalledOff,
}

/// What ends a call from outside.
#[derive(Debug, Default)]
pub(crate) struct Leash {
    /// Says when nobody wants the result any more.
    pub(crate) signal: Option<Arc<Signal>>,
    /// When it has to end.
    pub(crate) deadline: Option<Box<Deadline>>,
    /// When it has to give a sign of life.
    pub(crate) heartbeat: Option<Box<Deadline>>,
    /// What writes its text when it is time.
    pub(crate) texts: Option<TextTimer>,
}

impl Leash {
    fn poll<T>(&mut self, cx: &mut Context<'_>) -> Option<Ended<T>> {
        let due = |deadline: &mut Option<Box<Deadline>>, cx: &mut Context<'_>| {
            deadline.as_mut().is_some_and(|deadline| deadline.poll(cx).is_ready())
        };
        if due(&mut self.deadline, cx) {
            Some(Ended::TimedOut)
        } else if due(&mut self.heartbeat, cx) {
            Some(Ended::Silent)
        } else {
            if let Some(texts) = &mut self.texts {
                texts.poll(cx);
            }
            None
        }
    }
}

/// Writes the text that a call has collected when its time has come.
#[derive(Debug)]
pub(crate) struct TextTimer {
    clock: Arc<dyn Clock>,
    streams: Arc<Streams>,
    sleep: Option<(Timestamp, Waiting)>,
}

impl TextTimer {
    pub(crate) fn new(clock: &Arc<dyn Clock>, streams: &Arc<Streams>) -> Self {
        Self { clock: Arc::clone(clock), streams: Arc::clone(streams), sleep: None }
    }

    fn poll(&mut self, cx: &mut Context<'_>) {
        while let Some(due) = self.streams.due(cx.waker()) {
            if self.clock.now() >= due {
                // What cannot be written now is due later.
                self.streams.write_due();
                continue;
            }
            let sleep = match &mut self.sleep {
                Some((at, sleep)) if *at == due => sleep,
                other => &mut other.insert((due, Waiting(self.clock.sleep_until(due)))).1,
            };
            if sleep.0.as_mut().poll(cx).is_pending() {
                return;
            }
            // The clock may wake early.
            self.sleep = None;
        }
        self.sleep = None;
    }
}

/// When a call has to end.
#[derive(Debug)]
pub(crate) struct Deadline {
    clock: Arc<dyn Clock>,
    at: At,
    sleep: Waiting,
}

/// An instant that may move.
#[derive(Debug)]
enum At {
    Fixed(Timestamp),
    After(Arc<Streams>, Duration),
}

impl At {
    fn now(&self) -> Timestamp {
        match self {
            Self::Fixed(at) => *at,
            Self::After(streams, silence) => streams.last_beat().saturating_add(*silence),
        }
    }
}

struct Waiting(Sleep);

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sleep")
    }
}

impl Deadline {
    pub(crate) fn new(clock: &Arc<dyn Clock>, at: Timestamp) -> Self {
        Self::moving(clock, At::Fixed(at))
    }

    /// When a call has been silent for too long.
    pub(crate) fn silence(clock: &Arc<dyn Clock>, streams: &Arc<Streams>, silence: Duration) -> Self {
        Self::moving(clock, At::After(Arc::clone(streams), silence))
    }

    fn moving(clock: &Arc<dyn Clock>, at: At) -> Self {
        let sleep = Waiting(clock.sleep_until(at.now()));
        Self { clock: Arc::clone(clock), at, sleep }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.sleep.0.as_mut().poll(cx).is_ready() {
            // The clock may wake early, and the instant may have moved.
            let at = self.at.now();
            if self.clock.now() >= at {
                return Poll::Ready(());
            }
            self.sleep = Waiting(self.clock.sleep_until(at));
        }
        Poll::Pending
    }
}

/// Calls a handler.
///
/// The future holds nothing twice: there is one in each task of the engine.
pub(crate) fn call<T>(handler: CallFuture<T>, mut leash: Leash) -> impl Future<Output = Ended<T>> {
    let mut handler = Handler(Some(handler));
    poll_fn(move |cx| {
        if leash.signal.as_ref().is_some_and(|signal| signal.is_over()) {
            return Poll::Ready(handler.drop_it(Ended::CalledOff));
        }
        if let Poll::Ready(ended) = handler.poll(cx) {
            return Poll::Ready(ended);
        }
        // Listened to only now: most handlers have ended by here.
        if leash.signal.as_ref().is_some_and(|signal| signal.poll_called_off(cx).is_ready()) {
            return Poll::Ready(handler.drop_it(Ended::CalledOff));
        }
        match leash.poll(cx) {
            Some(ended) => Poll::Ready(handler.drop_it(ended)),
            None => Poll::Pending,
        }
    })
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
