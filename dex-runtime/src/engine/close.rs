//! Ending a run from outside.

use super::event::{Closing, Event, Stop};

/// The first stop wins: a closed run refuses every later one before it comes here.
pub(super) fn stop(stop: Stop, reason: Option<String>) -> Vec<Event> {
    vec![Event::RunClosed { closing: Closing::Stopped { stop, reason } }]
}
