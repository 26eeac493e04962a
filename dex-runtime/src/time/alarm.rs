//! A thread that wakes tasks at their instant, and not at the next whole millisecond.
//!
//! The runtime's timer counts milliseconds and rounds up twice, so it is late by one to two. Its own thread waits as
//! finely as the system can. It is for the last milliseconds of a sleep only: of all the sleeps that are begun, most
//! are limits that are never reached, and those stay with the runtime's timer, which is made for many.
//!
//! The thread begins with the first sleep that comes that far, and ends with its alarm. With nobody to wake it stands
//! still.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, thread};

/// Wakes those who sleep. Dropping it ends its thread; sleeps keep it.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    shared: Arc<Shared>,
}

/// What the thread and the sleepers share.
#[derive(Debug, Default)]
struct Shared {
    sleepers: Mutex<Sleepers>,
    /// Told when there is an earlier instant than all others, and at the end.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Sleepers {
    /// One for each sleep that is being awaited, so there are no more than tasks.
    waiting: BTreeMap<Key, Waker>,
    /// Tells sleepers of one instant apart.
    last: u64,
    thread: Option<JoinHandle<()>>,
    ended: bool,
}

type Key = (Instant, u64);

impl Alarm {
    /// Completes once `at` has come.
    ///
    /// # Errors
    ///
    /// If the system has no room for another thread.
    pub(super) fn at(self: &Arc<Self>, at: Instant) -> io::Result<Ring> {
        let mut sleepers = self.shared.lock();
        if sleepers.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name("dex-clock".into());
            sleepers.thread = Some(thread.spawn(move || shared.watch())?);
        }
        sleepers.last += 1;
        let key = (at, sleepers.last);
        drop(sleepers);
        Ok(Ring { alarm: Arc::clone(self), key, begun: false })
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does.
    fn watch(&self) {
        let mut sleepers = self.lock();
        while !sleepers.ended {
            let now = Instant::now();
            let due = sleepers.take(now);
            if !due.is_empty() {
                drop(sleepers);
                due.into_iter().for_each(wake);
                sleepers = self.lock();
                continue;
            }
            sleepers = match sleepers.rest(now) {
                Some(rest) => {
                    let waited = self.changed.wait_timeout(sleepers, rest);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(sleepers).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// A waker is the code of whoever polls; its panic must not keep the others asleep.
fn wake(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

impl Sleepers {
    /// Takes out those whose instant has come.
    fn take(&mut self, now: Instant) -> Vec<Waker> {
        let later = self.waiting.split_off(&(now, u64::MAX));
        std::mem::replace(&mut self.waiting, later).into_values().collect()
    }

    /// How long until the next one's instant.
    fn rest(&self, now: Instant) -> Option<Duration> {
        self.waiting.first_key_value().map(|((at, _), _)| at.saturating_duration_since(now))
    }

    /// Notes who is to be woken. Gives whether that comes before all others, and who was noted before.
    fn note(&mut self, key: Key, waker: Waker) -> (bool, Option<Waker>) {
        let first = self.waiting.first_key_value().is_none_or(|(first, _)| key < *first);
        (first, self.waiting.insert(key, waker))
    }
}

/// A sleep. Dropping it leaves nothing behind.
#[derive(Debug)]
pub(super) struct Ring {
    alarm: Arc<Alarm>,
    key: Key,
    /// Whether it was noted.
    begun: bool,
}

impl Future for Ring {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let shared = Arc::clone(&self.alarm.shared);
        let mut sleepers = shared.lock();
        // Whoever was noted and is not there any more was woken.
        if self.begun && !sleepers.waiting.contains_key(&self.key) {
            return Poll::Ready(());
        }
        self.begun = true;
        let (first, left) = sleepers.note(self.key, cx.waker().clone());
        drop(sleepers);
        // Not before: what ends with a waker may be another sleep.
        drop(left);
        if first {
            shared.changed.notify_one();
        }
        Poll::Pending
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let left = self.alarm.shared.lock().waiting.remove(&self.key);
        // The lock is free by now: what ends with a waker may be another sleep.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::task::Wake;

    use super::*;

    /// Longer than any test goes on.
    const NEVER: Duration = Duration::from_hours(1);

    /// Tells when it is woken.
    struct Probe(Mutex<Sender<()>>);

    impl Wake for Probe {
        fn wake(self: Arc<Self>) {
            self.0.lock().unwrap().send(()).unwrap();
        }
    }

    fn probe() -> (Waker, Receiver<()>) {
        let (told, woken) = channel();
        (Arc::new(Probe(Mutex::new(told))).into(), woken)
    }

    fn poll(ring: &mut Ring, waker: &Waker) -> Poll<()> {
        Pin::new(ring).poll(&mut Context::from_waker(waker))
    }

    #[test]
    fn those_are_taken_whose_instant_has_come_and_no_others() {
        let (now, mut sleepers) = (Instant::now(), Sleepers::default());
        let before = now + Duration::from_micros(6);
        let later = now + Duration::from_micros(7);
        assert!(sleepers.note((later, 1), Waker::noop().clone()).0, "who is alone comes first");
        assert!(sleepers.note((now, 2), Waker::noop().clone()).0);
        assert!(!sleepers.note((now, 3), Waker::noop().clone()).0, "two of one instant are two");
        assert_eq!(sleepers.take(now).len(), 2);
        assert_eq!(sleepers.rest(now), Some(Duration::from_micros(7)));
        assert_eq!(sleepers.rest(later + NEVER), Some(Duration::ZERO));
        assert_eq!(sleepers.take(before).len(), 0);
        assert_eq!(sleepers.take(later).len(), 1);
        assert_eq!(sleepers.rest(later), None);
    }

    #[test]
    fn who_comes_later_with_an_earlier_instant_is_woken_at_it() {
        let (alarm, (waker, woken)) = (Arc::new(Alarm::default()), probe());
        let mut long = alarm.at(Instant::now() + NEVER).unwrap();
        assert!(poll(&mut long, Waker::noop()).is_pending());
        let mut short = alarm.at(Instant::now()).unwrap();
        assert!(poll(&mut short, &waker).is_pending());
        woken.recv().unwrap();
        assert!(poll(&mut short, &waker).is_ready());
        assert!(poll(&mut long, &waker).is_pending());
    }

    #[test]
    fn the_one_who_asked_last_is_woken() {
        let (alarm, (before, not), (waker, woken)) = (Arc::new(Alarm::default()), probe(), probe());
        let mut ring = alarm.at(Instant::now() + NEVER).unwrap();
        assert!(poll(&mut ring, &before).is_pending());
        assert!(poll(&mut ring, &waker).is_pending());
        alarm.shared.lock().take(Instant::now() + 2 * NEVER).into_iter().for_each(wake);
        woken.recv().unwrap();
        assert!(not.try_recv().is_err());
        assert!(poll(&mut ring, &waker).is_ready());
    }

    #[test]
    fn a_dropped_sleep_leaves_nothing_behind() {
        let alarm = Arc::new(Alarm::default());
        let mut ring = alarm.at(Instant::now() + NEVER).unwrap();
        assert!(poll(&mut ring, Waker::noop()).is_pending());
        assert_eq!(alarm.shared.lock().waiting.len(), 1);
        drop(ring);
        assert_eq!(alarm.shared.lock().waiting.len(), 0);
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_asleep() {
        struct Broken;
        impl Wake for Broken {
            fn wake(self: Arc<Self>) {
                panic!("a waker that is broken");
            }
        }
        let (alarm, (waker, woken)) = (Arc::new(Alarm::default()), probe());
        let now = Instant::now();
        let mut broken = alarm.at(now).unwrap();
        assert!(poll(&mut broken, &Arc::new(Broken).into()).is_pending());
        let mut other = alarm.at(now).unwrap();
        assert!(poll(&mut other, &waker).is_pending());
        woken.recv().unwrap();
        assert!(poll(&mut broken, &waker).is_ready());
    }

    #[test]
    fn the_thread_begins_with_the_first_sleep_and_ends_with_its_alarm() {
        let alarm = Arc::new(Alarm::default());
        assert!(alarm.shared.lock().thread.is_none());
        let ring = alarm.at(Instant::now() + NEVER).unwrap();
        let thread = alarm.shared.lock().thread.take().unwrap();
        drop(alarm);
        assert!(!ring.alarm.shared.lock().ended, "a sleep keeps it");
        drop(ring);
        thread.join().unwrap();
    }
}
