//! The options of a step for one movement: how they are written, when they are wrong, and what comes of them.
//!
//! [`StepOptions`] is what a handler or a caller writes: typed, and as yet unchecked. `check` holds the rules,
//! the same that `#[step]` has at compile time, and makes an engine's patch of it. `effective` lays a patch over
//! what a step's definition says. It knows nothing of executions.

mod check;
mod effective;

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

pub use self::check::StepOptionsError;
pub(crate) use self::effective::{Effective, End};
use super::contract::RecoveredBy;
use super::describe::StepDefinition;
use super::handle::Step;
use crate::engine::{Durability, OnExhausted};

/// Options of a step for one movement to it: a patch over the options of the step itself.
///
/// Only what is set here is different for this movement; the rest is what the step's `#[step(…)]` says, in
/// the build that runs. What is set is stored with the movement and holds for all attempts of the step and of its
/// `wait_for`, whatever a later build says. A recovery of the step, or a later movement to it, has none of it.
///
/// The rules are those of `#[step(…)]`, but that a movement may cut short what the step says: its timeout may be
/// shorter than the step's heartbeat, its longest pause shorter than the step's first. A movement that breaks a rule
/// parks the step that decides so; [`StepOptionsError`] lists them.
///
/// ```
/// # use std::time::Duration;
/// # use dex_runtime::definition::{Flow, Next, Step, StepOptions};
/// # fn decide<F: Flow>(ship: Step<F, String>, refund: Step<F, String>) -> Next<F> {
/// let patient = StepOptions::new().attempts(20).timeout(Duration::from_mins(5)).on_failure(refund);
/// Next::to_with(ship, "order-17".into(), patient)
/// # }
/// ```
#[must_use = "options do nothing by themselves: give them to `Next::to_with`"]
pub struct StepOptions<F, I> {
    given: Given,
    types: PhantomData<fn() -> (F, I)>,
}

/// What is set, as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Given {
    pub(crate) initial: Option<Duration>,
    pub(crate) factor: Option<f64>,
    pub(crate) max_interval: Option<Duration>,
    pub(crate) attempts: Option<u32>,
    pub(crate) total: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) heartbeat: Option<Duration>,
    pub(crate) on_failure: Option<&'static str>,
    pub(crate) on_exhausted: Option<OnExhausted>,
    pub(crate) durability: Option<Durability>,
}

impl Given {
    pub(crate) const NOTHING: Self = Self {
        initial: None,
        factor: None,
        max_interval: None,
        attempts: None,
        total: None,
        timeout: None,
        heartbeat: None,
        on_failure: None,
        on_exhausted: None,
        durability: None,
    };
}

impl<F, I> StepOptions<F, I> {
    /// Nothing set: the movement goes by the step's own options.
    pub const fn new() -> Self {
        Self::of(Given::NOTHING)
    }

    pub(crate) const fn of(given: Given) -> Self {
        Self { given, types: PhantomData }
    }

    pub(crate) const fn given(&self) -> Given {
        self.given
    }

    /// Sets the pause after the first failure: `retry(initial = …)`. At least a millisecond, and not longer than
    /// the longest pause.
    pub const fn initial(mut self, pause: Duration) -> Self {
        self.given.initial = Some(pause);
        self
    }

    /// Sets what each pause is longer than the one before: `retry(factor = …)`. From 1 to 1000.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.given.factor = Some(factor);
        self
    }

    /// Sets the longest pause: `retry(max_interval = …)`.
    pub const fn max_interval(mut self, pause: Duration) -> Self {
        self.given.max_interval = Some(pause);
        self
    }

    /// Sets the most attempts, the first included: `retry(attempts = …)`. 1 is no second attempt.
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.given.attempts = Some(attempts);
        self
    }

    /// Sets the time from the first attempt within which attempts may start: `retry(total = …)`.
    pub const fn total(mut self, total: Duration) -> Self {
        self.given.total = Some(total);
        self
    }

    /// Sets the longest attempt: `timeout = …`.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.given.timeout = Some(timeout);
        self
    }

    /// Sets the longest time between two signs of life of an attempt: `heartbeat = …`. Shorter than the timeout.
    pub const fn heartbeat(mut self, silence: Duration) -> Self {
        self.given.heartbeat = Some(silence);
        self
    }

    /// Sets what happens when the retries are used up: `on_exhausted = …`. No step takes over then, not even one
    /// that the step itself names.
    pub const fn on_exhausted(mut self, then: OnExhausted) -> Self {
        self.given.on_exhausted = Some(then);
        self
    }

    /// Sets the step that takes over, with the same input, when the retries are used up: `on_failure = …`. It
    /// goes by its own options.
    ///
    /// A build that does not have the step any more parks the one that failed.
    pub const fn on_failure<R>(mut self, recovery: Step<F, R>) -> Self
    where
        I: RecoveredBy<R>,
    {
        self.given.on_failure = Some(recovery.name());
        self
    }

    /// Sets when what follows from the step may happen: `durability = …`. A step with a recovery is always
    /// [`Sync`](Durability::Sync).
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.given.durability = Some(durability);
        self
    }

    /// Says what is wrong with the options for a step that is described so: what would park a movement to it.
    ///
    /// A decision is looked at by the engine, so in a unit test without one this is the way to ask.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use dex_runtime::definition::{StepDefinition, StepOptions, StepOptionsError};
    /// static SHIP: StepDefinition =
    ///     StepDefinition { timeout: Some(Duration::from_secs(30)), ..StepDefinition::DEFAULT };
    /// let options = StepOptions::<(), String>::new().heartbeat(Duration::from_mins(1));
    /// let wrong = options.check(&SHIP).unwrap_err();
    /// assert!(matches!(wrong, StepOptionsError::HeartbeatNeverMissed { .. }));
    /// assert!(options.timeout(Duration::from_mins(5)).check(&SHIP).is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// The first rule that they break.
    pub fn check(&self, step: &'static StepDefinition) -> Result<(), StepOptionsError> {
        self.given.patch(step).map(drop)
    }
}

// By hand, since neither flow nor input has to be any of it.

impl<F, I> Clone for StepOptions<F, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, I> Copy for StepOptions<F, I> {}

impl<F, I> Default for StepOptions<F, I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F, I> PartialEq for StepOptions<F, I> {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl<F, I> fmt::Debug for StepOptions<F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StepOptions").field(&self.given).finish()
    }
}
