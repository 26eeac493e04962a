//! What connects a running step with the engine: the word that it is to stop, its signs of life, and how
//! far it has come.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::stream::Streams;
use crate::signal::Signal;
use crate::time::Timestamp;
use crate::value::Payload;

/// What a running step is connected with.
pub(crate) struct Live {
    /// Says when the step is to stop.
    pub(crate) signal: Arc<Signal>,
    pub(crate) streams: Arc<Streams>,
    /// What an earlier attempt wrote down.
    pub(crate) checkpoint: Option<Payload>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("checkpoint", &self.checkpoint).finish_non_exhaustive()
    }
}

/// When a running step last gave a sign of life.
#[derive(Debug)]
pub(super) struct Pulse {
    last_micros: AtomicI64,
}

impl Pulse {
    /// A pulse whose first beat is at `start`.
    pub(super) fn new(start: Timestamp) -> Self {
        Self { last_micros: AtomicI64::new(start.as_micros()) }
    }

    pub(super) fn beat(&self, now: Timestamp) {
        self.last_micros.fetch_max(now.as_micros(), Ordering::Relaxed);
    }

    /// When the last sign of life was.
    pub(super) fn last(&self) -> Timestamp {
        Timestamp::from_micros(self.last_micros.load(Ordering::Relaxed))
    }
}
