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
//!
//! A step that locks attributes stands in `Blocked` between its wait and its hand-out, as long as another
//! one has them. A run that is cancelled goes on until its handlers have ended and its clean-up has.
//!
//! What the shell has to do about it is an [`Effect`]; it happens only after the commit, and
//! [`outstanding`] derives all of it again from the state alone.

mod about;
mod children;
mod close;
mod command;
mod decide;
mod effect;
mod event;
mod evolve;
mod fold;
pub mod invariant;
mod locks;
mod meet;
mod operate;
mod patch;
mod reads;
mod retry;
mod rpc;
mod settle;
mod shared;
mod size;
mod start;
mod state;
mod step;
mod transition;
mod view;
mod wait;
mod waiters;

#[cfg(test)]
mod tests;

pub use self::children::{
    Child, ChildNo, ChildRequest, ChildStage, ChildStart, Children, Errand, Parent, ParentEnd,
};
pub use self::command::{
    CancelSteps, Command, Decision, Exhausted, FailureReport, Movement, Note, RpcReport, Staged, Start,
    StepReport, WaitReport, WriteReport,
};
pub use self::decide::{Limits, Rejection, decide};
pub use self::effect::{Effect, Task, outstanding};
pub use self::event::{
    CancelPlan, Closing, Event, Failure, FailureKind, Recovery, RetryPolicy, RunTimeout, Source, StepTarget,
    Stop, TimeoutAction,
};
pub use self::evolve::{Broken, evolve};
pub use self::fold::{Recorded, fold};
pub use self::patch::{Durability, Factor, OnExhausted, PatchedEnd, StepPatch};
pub use self::reads::{MapKind, Read, Reads, attribute_keys, channel_keys, numbers};
pub use self::shared::SharedMap;
pub use self::state::{
    Answered, Attribute, Canceling, ChannelState, Closed, Execution, HandedOut, Message, Method, Output,
    Phase, RunIdentity, RunState, Status, StepId,
};
pub use self::transition::{Refusal, Transition, begun, refused_start, transition};
pub use self::view::{RunEnd, View};
pub use self::wait::{Condition, Matched, Outcome};
pub use self::waiters::{Need, Waiters};
