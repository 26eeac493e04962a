//! The handler calls of a run that run now, and the means to reach them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

use crate::ids::{Attempt, ExecutionNo};

/// The handler calls of a run that run now.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<Vec<Call>>);

#[derive(Debug)]
struct Call {
    attempt: Attempt,
    /// Says to the handler that it is to stop.
    canceled: watch::Sender<bool>,
    /// Dropped without a word when the call is called off, which is the word.
    _called_off: oneshot::Sender<()>,
}

/// How a handler call hears from its run.
#[derive(Debug)]
pub(crate) struct RunningCall {
    /// Completes when nobody wants the result any more.
    pub(crate) called_off: oneshot::Receiver<()>,
    /// Turns true when the handler is to stop.
    pub(crate) canceled: watch::Receiver<bool>,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Vec<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a call; `None` if the same attempt runs already.
    pub(super) fn begin(&self, attempt: Attempt) -> Option<RunningCall> {
        let mut calls = self.lock();
        if calls.iter().any(|call| call.attempt == attempt) {
            return None;
        }
        let (sender, called_off) = oneshot::channel();
        let (teller, canceled) = watch::channel(false);
        calls.push(Call { attempt, canceled: teller, _called_off: sender });
        Some(RunningCall { called_off, canceled })
    }

    /// Forgets a call that has ended by itself.
    pub(super) fn end(&self, attempt: Attempt) {
        self.lock().retain(|call| call.attempt != attempt);
    }

    /// Says to the handler of `execution`, or to all of them, that it is to stop.
    pub(super) fn tell(&self, execution: Option<ExecutionNo>) {
        for call in self.lock().iter().filter(|call| call.is_of(execution)) {
            call.canceled.send_replace(true);
        }
    }

    /// Calls off the handler of `execution`, or all of them.
    pub(super) fn call_off(&self, execution: Option<ExecutionNo>) {
        // One that cannot be dropped hears of it at least.
        self.tell(execution);
        self.lock().retain(|call| !call.is_of(execution));
    }
}

impl Call {
    fn is_of(&self, execution: Option<ExecutionNo>) -> bool {
        execution.is_none_or(|only| self.attempt.execution == only)
    }
}
