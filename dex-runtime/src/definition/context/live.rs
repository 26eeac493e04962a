//! What connects a running step with the engine: the word that it is to stop, its signs of life, and how
//! far it has come.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::stop_word::StopWord;
use super::stream::Streams;
use crate::definition::error::StepError;
use crate::time::{Clock, Timestamp};
use crate::value::Payload;

/// Writes down how far a running step has come.
pub(crate) type Keep = Arc<dyn Fn(Payload) -> Result<(), StepError> + Send + Sync>;

/// What a running step is connected with.
pub(crate) struct Live {
    /// Turns true when the step is to stop.
    pub(crate) canceled: StopWord,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) keep: Keep,
    pub(crate) streams: Arc<Streams>,
    /// What an earlier attempt wrote down.
    pub(crate) checkpoint: Option<Payload>,
}

impl Live {
    pub(super) fn checkpoint(&self, value: Payload) -> Result<(), StepError> {
        self.pulse.beat();
        (self.keep)(value)
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("checkpoint", &self.checkpoint).finish_non_exhaustive()
    }
}

/// When a running step last gave a sign of life.
#[derive(Debug)]
pub(crate) struct Pulse {
    clock: Arc<dyn Clock>,
    last_micros: AtomicI64,
}

impl Pulse {
    /// A pulse whose first beat is now.
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self { clock: Arc::clone(clock), last_micros: AtomicI64::new(clock.now().as_micros()) }
    }

    pub(super) fn beat(&self) {
        self.last_micros.fetch_max(self.clock.now().as_micros(), Ordering::Relaxed);
    }

    /// When the last sign of life was.
    pub(crate) fn last(&self) -> Timestamp {
        Timestamp::from_micros(self.last_micros.load(Ordering::Relaxed))
    }
}
