//! Every bound of the runtime, with its unit and its reason.

use std::time::Duration;

use crate::engine::Limits;
use crate::error::{Error, ErrorKind, Result};

/// Bounds of a running engine. The defaults suit a service on a small machine.
///
/// ```
/// use dex_runtime::Options;
///
/// let options = Options { worker_slots: 16, ..Options::default() };
/// assert_eq!(options.limits.channel_messages_max, 100_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bounds on what one run may hold.
    pub limits: Limits,
    /// Handlers that run at the same time. A handler that awaits something outside holds its slot, so
    /// this bounds what the process asks of others at once; waits, timers and retry pauses hold none.
    pub worker_slots: usize,
    /// Runs that only wait and are kept in memory all the same, since the next message often follows soon.
    /// Reading one back costs tens of microseconds; keeping one costs some kilobytes.
    pub idle_runs_max: usize,
    /// Transitions that are written with one sync at most. More would only make the first of them wait.
    pub commit_transitions_max: usize,
    /// Transitions that may wait to be written. Callers wait for their own, so a longer queue is the sign
    /// of a disk that hangs; what comes beyond it is refused as unavailable.
    pub commit_queue_max: usize,
    /// Bytes of stream items that may wait to be written. A disk writes so much in some tens of milliseconds; a step
    /// that is faster is slowed down, or told so.
    pub stream_queue_bytes_max: usize,
    /// Timers that are held in memory at most; the others stay in the store until they are near.
    pub timers_max: usize,
    /// How often an RPC that writes, or an update of an attribute from outside, runs again because what it read
    /// has changed.
    pub rpc_attempts_max: u32,
    /// Longest RPC, all its attempts together.
    pub rpc_timeout: Duration,
    /// How long handlers that run may go on when their run is cancelled. They are told at once; a call to
    /// another service mostly ends within this, and whoever cancels does not want to wait for longer.
    pub cancel_grace: Duration,
    /// How often in a row a step may lose its process before it is parked, since it may be what kills it.
    /// Two deaths are a coincidence; for a program that is made to be killed set more.
    pub crash_attempts_max: u32,
}

impl Options {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        limits: Limits::DEFAULT,
        worker_slots: 1_024,
        idle_runs_max: 1_024,
        commit_transitions_max: 1_024,
        commit_queue_max: 1_000_000,
        stream_queue_bytes_max: 8 * 1024 * 1024,
        timers_max: 10_000,
        rpc_attempts_max: 100,
        rpc_timeout: Duration::from_mins(1),
        cancel_grace: Duration::from_secs(10),
        crash_attempts_max: 3,
    };
}

impl Options {
    /// Refuses bounds with which nothing could ever happen.
    pub(crate) fn check(&self) -> Result<()> {
        let bounds = [
            ("limits.channel_messages_max", self.limits.channel_messages_max),
            ("limits.executions_max", self.limits.executions_max),
            ("limits.children_max", self.limits.children_max),
            ("limits.state_bytes_max", self.limits.state_bytes_max),
            ("worker_slots", self.worker_slots),
            ("commit_transitions_max", self.commit_transitions_max),
            ("commit_queue_max", self.commit_queue_max),
            ("stream_queue_bytes_max", self.stream_queue_bytes_max),
            ("timers_max", self.timers_max),
            ("rpc_attempts_max", usize::try_from(self.rpc_attempts_max).unwrap_or(usize::MAX)),
        ];
        match bounds.iter().find(|(_, bound)| *bound == 0) {
            None => Ok(()),
            Some((name, _)) => {
                let message =
                    format!("option `{name}` is 0, with which nothing could ever happen: give at least 1");
                Err(Error::new(ErrorKind::InvalidSetup, message))
            }
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}
