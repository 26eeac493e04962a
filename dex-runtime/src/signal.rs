//! The word of a run to a handler that runs: that it is to stop, or that nobody wants its result any more.
//!
//! One is made for each handler call, and most calls end without a word: so it is one small allocation, and
//! costs nothing more until someone listens.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

/// Nothing was said.
const WANTED: u8 = 0;
/// The handler is to stop; what it gives still counts.
const TOLD: u8 = 1;
/// Nobody wants what it gives.
const OVER: u8 = 2;

/// What was said to one handler call.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    said: AtomicU8,
    /// The handler's own, who may listen in several places.
    listeners: Notify,
    /// Who polls the handler.
    caller: Mutex<Option<Waker>>,
}

impl Signal {
    /// Says to the handler that it is to stop.
    pub(crate) fn tell(&self) {
        self.say(TOLD);
    }

    /// Says that nobody wants the result any more. The handler hears that it is to stop.
    pub(crate) fn call_off(&self) {
        self.say(OVER);
        let caller = self.lock().take();
        if let Some(caller) = caller {
            caller.wake();
        }
    }

    fn say(&self, word: u8) {
        if self.said.fetch_max(word, Ordering::AcqRel) == WANTED {
            self.listeners.notify_waiters();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the handler is to stop.
    pub(crate) fn is_told(&self) -> bool {
        self.said.load(Ordering::Acquire) != WANTED
    }

    /// Whether nobody wants the result any more.
    pub(crate) fn is_over(&self) -> bool {
        self.said.load(Ordering::Acquire) == OVER
    }

    /// Completes once the handler is to stop.
    pub(crate) async fn told(self: Arc<Self>) {
        // Made before the look: a word between the two wakes it.
        let told = self.listeners.notified();
        if !self.is_told() {
            told.await;
        }
    }

    /// Ready once nobody wants the result any more, which `cx` is woken by.
    pub(crate) fn poll_called_off(&self, cx: &Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        let mut caller = self.lock();
        if !caller.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *caller = Some(cx.waker().clone());
        }
        drop(caller);
        // It may have been said before the waker was there.
        if self.is_over() { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_handler_that_listens_hears_of_both_words_and_of_one_that_came_before() {
        let woken = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        for say in [Signal::tell, Signal::call_off] {
            let signal = Arc::new(Signal::default());
            let mut early = pin!(Arc::clone(&signal).told());
            assert!(!signal.is_told() && early.as_mut().poll(&mut cx).is_pending());
            let before = woken.0.load(Ordering::Relaxed);
            say(&signal);
            assert_eq!(woken.0.load(Ordering::Relaxed), before + 1);
            assert!(signal.is_told() && early.as_mut().poll(&mut cx).is_ready());
            assert!(pin!(Arc::clone(&signal).told()).poll(&mut cx).is_ready());
        }
    }

    #[test]
    fn who_polls_the_handler_is_woken_when_it_is_called_off_and_not_when_it_is_told() {
        let woken = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&woken));
        let cx = Context::from_waker(&waker);
        let signal = Signal::default();
        assert!(signal.poll_called_off(&cx).is_pending());
        signal.tell();
        assert!(signal.poll_called_off(&cx).is_pending());
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        signal.call_off();
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert!(signal.poll_called_off(&cx).is_ready());
    }
}
