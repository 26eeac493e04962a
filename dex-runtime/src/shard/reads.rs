//! Questions to the store, which threads that may block answer: only so many at a time, and short ones share a thread.
//!
//! To have a thread of the pool take a question, and to wake the caller, costs more than most short answers. So a
//! thread that answers goes on with the questions that have come meanwhile, and ends when there are none.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::store::{Store, StoreError};

/// Threads that answer at the same time: as deep as the queues of ordinary disks are worth filling. More of them, as
/// the runtime's pool would begin, cost memory that stays.
const READERS_MAX: usize = 16;

/// Lookups that wait for each thread before another one helps. One waits for so many at most, which is a fraction of
/// a millisecond unless the disk is slow; then there are soon more threads.
const LOOKUPS_EACH: usize = 8;

type Question = Box<dyn FnOnce(&dyn Store) + Send>;

/// The questions that wait. There are no more than callers.
pub(super) struct Reads {
    queue: Mutex<Queue>,
    /// Questions that wait for each thread before another one helps.
    waiting_each: usize,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Question>,
    readers: usize,
}

/// The question was not answered: it panicked or one before it did, or the runtime is being shut down.
#[derive(Debug)]
pub(super) struct Unanswered;

impl Reads {
    /// For questions that are a matter of a few reads.
    pub(super) fn short() -> Self {
        Self { queue: Mutex::default(), waiting_each: LOOKUPS_EACH }
    }

    /// For questions that may take long: none waits for another one while there are threads.
    pub(super) fn long() -> Self {
        Self { queue: Mutex::default(), waiting_each: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // The queue is whole at every point where a panic could happen.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks `question`.
    pub(super) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        handle: &Handle,
        store: &Arc<dyn Store>,
        question: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Result<T, StoreError>, Unanswered> {
        let (sender, answer) = oneshot::channel();
        let question = Box::new(move |store: &dyn Store| {
            // A caller who has gone meanwhile does not mind.
            let _ = sender.send(question(store));
        });
        if let Some(reader) = self.push(question) {
            let store = Arc::clone(store);
            drop(handle.spawn_blocking(move || reader.answer(&*store)));
        }
        answer.await.map_err(|_| Unanswered)
    }

    /// Adds a question. Gives a reader that the caller has to start, if it takes another one.
    fn push(self: &Arc<Self>, question: Question) -> Option<Reader> {
        let mut queue = self.lock();
        queue.waiting.push_back(question);
        let more = queue.waiting.len() > queue.readers * self.waiting_each && queue.readers < READERS_MAX;
        more.then(|| {
            queue.readers += 1;
            Reader { reads: Arc::clone(self), counted: true }
        })
    }

    #[cfg(test)]
    fn readers(&self) -> usize {
        self.lock().readers
    }
}

/// One that answers until there are no questions.
struct Reader {
    reads: Arc<Reads>,
    /// Whether it is one of [`Queue::readers`].
    counted: bool,
}

impl Reader {
    fn answer(mut self, store: &dyn Store) {
        while let Some(question) = self.next() {
            question(store);
        }
    }

    /// The next question. With the last one it is counted out under the same lock, so that none is left behind.
    fn next(&mut self) -> Option<Question> {
        let mut queue = self.reads.lock();
        let next = queue.waiting.pop_front();
        if next.is_none() {
            queue.readers -= 1;
            self.counted = false;
        }
        next
    }
}

impl Drop for Reader {
    /// One that was never begun, since the runtime is being shut down, or that has panicked: nobody is to wait for it.
    fn drop(&mut self) {
        if self.counted {
            let mut queue = self.reads.lock();
            queue.readers -= 1;
            let unanswered = std::mem::take(&mut queue.waiting);
            drop(queue);
            drop(unanswered);
        }
    }
}

impl fmt::Debug for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.lock();
        let (waiting, readers) = (queue.waiting.len(), queue.readers);
        drop(queue);
        f.debug_struct("Reads").field("waiting", &waiting).field("readers", &readers).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::memory::MemoryStore;

    fn store() -> Arc<dyn Store> {
        Arc::new(MemoryStore::new())
    }

    /// Questions that tell their number, one after the other.
    fn push(
        reads: &Arc<Reads>,
        told: &std::sync::mpsc::Sender<usize>,
        numbers: std::ops::Range<usize>,
    ) -> Vec<Reader> {
        let question = |number| {
            let told = told.clone();
            Box::new(move |_: &dyn Store| told.send(number).unwrap()) as Question
        };
        numbers.filter_map(|number| reads.push(question(number))).collect()
    }

    #[test]
    fn one_thread_answers_what_has_come_meanwhile_and_more_help_when_many_wait() {
        let reads = Arc::new(Reads::short());
        let (sender, told) = std::sync::mpsc::channel();
        let mut readers = push(&reads, &sender, 0..LOOKUPS_EACH);
        assert_eq!(readers.len(), 1);
        readers.extend(push(&reads, &sender, LOOKUPS_EACH..LOOKUPS_EACH * (READERS_MAX + 5)));
        assert_eq!(readers.len(), READERS_MAX);
        readers.remove(0).answer(&*store());
        assert!(told.try_iter().eq(0..LOOKUPS_EACH * (READERS_MAX + 5)));
        for reader in readers {
            reader.answer(&*store());
        }
        assert_eq!((reads.readers(), told.try_iter().count()), (0, 0));
        assert_eq!(push(&reads, &sender, 0..1).len(), 1, "whoever comes next is answered again");
    }

    #[test]
    fn a_long_question_gets_a_thread_of_its_own_as_long_as_there_are_some() {
        let reads = Arc::new(Reads::long());
        let (sender, told) = std::sync::mpsc::channel();
        let mut readers = push(&reads, &sender, 0..READERS_MAX);
        assert_eq!(readers.len(), READERS_MAX);
        readers.extend(push(&reads, &sender, READERS_MAX..READERS_MAX + 5));
        assert_eq!(readers.len(), READERS_MAX);
        for reader in readers {
            reader.answer(&*store());
        }
        assert!(told.try_iter().eq(0..READERS_MAX + 5));
    }

    #[test]
    fn nobody_waits_for_a_thread_that_is_never_begun_or_has_panicked() {
        let reads = Arc::new(Reads::short());
        let (sender, told) = std::sync::mpsc::channel();
        let never = push(&reads, &sender, 0..3);
        drop(never);
        assert_eq!((reads.readers(), reads.lock().waiting.len()), (0, 0));

        let panics = reads.push(Box::new(|_| panic!("a fault of the store"))).unwrap();
        push(&reads, &sender, 3..5);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| panics.answer(&*store())));
        assert!(ended.is_err());
        assert_eq!((reads.readers(), reads.lock().waiting.len()), (0, 0));
        drop(sender);
        assert_eq!(told.iter().count(), 0);
    }

    #[tokio::test]
    async fn a_question_gets_its_answer() {
        let (reads, store) = (Arc::new(Reads::short()), store());
        let runs = reads.ask(&Handle::current(), &store, |store| store.runs(None, 1)).await;
        assert_eq!(runs.unwrap().unwrap(), []);
    }
}
