//! What is ready: handler calls to make, errands between runs, timers to fire, callers who wait.
//!
//! All of it is a cache of the store and can be made again from it. It knows runs and tasks; it calls no
//! handler, writes nothing, and decides nothing about a run.

mod errands;
mod queue;
mod timers;
mod waiters;
mod watchers;

pub(crate) use self::errands::{ErrandQueue, Errands};
pub(crate) use self::queue::{Begin, Job, Next, ReadyQueue};
pub(crate) use self::timers::Timers;
pub(crate) use self::waiters::Waiters;
pub(crate) use self::watchers::Watchers;
