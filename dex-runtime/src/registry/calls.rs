//! The handler calls of a run that run now, and the means to reach them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::{Attempt, ExecutionNo};
use crate::signal::Signal;

/// The handler calls of a run that run now.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<Vec<Call>>);

#[derive(Debug)]
struct Call {
    attempt: Attempt,
    /// How it hears from its run.
    signal: Arc<Signal>,
}

impl Drop for Call {
    /// Whoever goes on after the call, such as a task that it has started, hears that it is over.
    fn drop(&mut self) {
        self.signal.call_off();
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Vec<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a call; `None` if the same attempt runs already.
    pub(super) fn begin(&self, attempt: Attempt) -> Option<Arc<Signal>> {
        let mut calls = self.lock();
        if calls.iter().any(|call| call.attempt == attempt) {
            return None;
        }
        let signal = Arc::new(Signal::default());
        calls.push(Call { attempt, signal: Arc::clone(&signal) });
        Some(signal)
    }

    /// Forgets a call that has ended.
    pub(super) fn end(&self, attempt: Attempt) {
        self.lock().retain(|call| call.attempt != attempt);
    }

    /// Whether any handler runs.
    pub(super) fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Says to the handler of `execution`, or to all of them, that it is to stop.
    pub(super) fn tell(&self, execution: Option<ExecutionNo>) {
        for call in self.lock().iter().filter(|call| call.is_of(execution)) {
            call.signal.tell();
        }
    }

    /// Calls off the handler of `execution`, or all of them.
    pub(super) fn call_off(&self, execution: Option<ExecutionNo>) {
        self.lock().retain(|call| !call.is_of(execution));
    }
}

impl Call {
    fn is_of(&self, execution: Option<ExecutionNo>) -> bool {
        execution.is_none_or(|only| self.attempt.execution == only)
    }
}
