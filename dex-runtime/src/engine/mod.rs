//! The rules of a run, and nothing else.
//!
//! [`decide`] looks at a run as it is and at one command, and says what happens: a list of events, or a
//! refusal. [`evolve`] says what the run is after an event. [`transition`] joins the two and adds what
//! follows by itself (a wait that is met now, a run that is complete now). No clock, no randomness, no
//! store, no task, no user type: the same input gives the same output on every machine, a test is a
//! function call, and a stored run is read back by folding its events.
//!
//! ```text
//!            Start             StartWait                   WaitMet
//!  (absent) ──────▶ Ready ───────────────────▶ Waiting ──────────────▶ Ready ──▶ ended
//!                    │ ▲   FailAttempt                Publish, FireTimer   CompleteStep
//!                    ▼ │
//!                  Backoff ──▶ Parked      (a run is closed when nothing is left, or by Stop)
//! ```

mod command;
mod event;
mod state;
mod wait;

pub use self::command::{
    Command, Decision, Exhausted, FailureReport, Movement, RpcReport, Staged, Start, StepReport, WaitReport,
};
pub use self::event::{Closing, Event, Failure, FailureKind, Recovery, RetryPolicy, Source, Stop};
pub use self::state::{
    Attribute, ChannelState, Closed, Execution, Message, Method, Output, Phase, RunIdentity, RunState, Status,
};
pub use self::wait::{Condition, Matched, Outcome};
