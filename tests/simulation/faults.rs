//! Faults of the store, and what callers may then be told.

use std::time::Duration;

use dex::testing::{FailAt, TestEngine};
use dex::{ErrorKind, Result};

use crate::model::Answer;

/// Which faults there may be at the moment.
#[derive(Debug, Default)]
pub(crate) struct Weather {
    /// Whether commits may still fail.
    failing: bool,
    disk_full: bool,
}

impl Weather {
    pub(crate) fn fail(&mut self, engine: &TestEngine, nth: u64, at: FailAt) {
        self.failing = true;
        engine.store().fail_commit(nth, at);
    }

    pub(crate) fn fill_disk(&mut self, engine: &TestEngine) {
        self.disk_full = true;
        engine.store().set_disk_full(true);
    }

    pub(crate) async fn free_disk(&mut self, engine: &TestEngine) {
        engine.store().set_disk_full(false);
        // The engine looks again after a pause.
        engine.advance(Duration::from_secs(3)).await;
        self.disk_full = false;
    }

    /// Lets the planned faults happen and be over.
    pub(crate) async fn clear(&mut self, engine: &TestEngine) {
        self.free_disk(engine).await;
        engine.store().forget_failures();
        engine.advance(Duration::from_secs(3)).await;
        self.failing = false;
    }

    /// What an answer means. Fails if nothing that was done explains it.
    pub(crate) fn answer<T>(&self, answer: Result<T>) -> Answer<T> {
        let error = match answer {
            Ok(value) => return Answer::Done(value),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::OutcomeUnknown if self.failing => Answer::Unknown,
            ErrorKind::DiskFull if self.disk_full => Answer::Nothing,
            // What was decided before the disk was full may have been written or not.
            ErrorKind::OutcomeUnknown if self.disk_full => Answer::Unknown,
            ErrorKind::Unavailable if self.failing || self.disk_full => Answer::Nothing,
            ErrorKind::Closed => Answer::Closed(error.existing_run().unwrap().1),
            ErrorKind::AlreadyStarted => Answer::Exists(error.existing_run().unwrap().0),
            ErrorKind::NotFound => Answer::NotFound,
            _ => panic!("nothing explains this answer: {error:?} in {self:?}"),
        }
    }
}
