//! User code: calling handlers, and turning what they return into commands.
//!
//! `invoke` is the only place where user code runs. A handler's error or panic ends an attempt, never the
//! process. It knows flows by name; it knows nothing of the store or of callers.

mod invoke;
mod outcome;
mod panic;
mod slot;

pub(crate) use self::invoke::{Deadline, Ended, Leash, call};
pub(crate) use self::outcome::{cancels, movement};
pub(crate) use self::panic::install_hook;
pub(crate) use self::slot::slot;
