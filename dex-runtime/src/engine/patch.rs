//! What a movement changes about the options of its step.
//!
//! The rules of a step come from the build that runs; a patch is laid over them, field by field. It belongs to
//! one execution, which keeps it over all attempts of both methods. Neither the recovery of that execution
//! nor a later movement to the same step has it.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::event::RetryPolicy;
use crate::ids::Name;

/// The fields of a step's options that one movement sets. Times are whole microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepPatch {
    /// Pause after the first failure.
    pub initial: Option<Duration>,
    /// What each pause is longer than the one before.
    pub factor: Option<Factor>,
    /// Longest pause.
    pub max_interval: Option<Duration>,
    /// Most attempts, the first included.
    pub attempts: Option<u32>,
    /// Time from the start of the first attempt within which attempts may start.
    pub total: Option<Duration>,
    /// Longest attempt.
    pub timeout: Option<Duration>,
    /// Longest time between two signs of life.
    pub heartbeat: Option<Duration>,
    /// What happens when the retries are used up; in the place of all that the step says about it.
    pub exhausted: Option<PatchedEnd>,
    /// When what follows may happen.
    pub durability: Option<Durability>,
}

/// What a patch says about the end of the retries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchedEnd {
    /// This, and no step takes over.
    Of(OnExhausted),
    /// The step with this stored name takes over, with the same input and its own options.
    Recover(Name),
}

/// What happens when a step's retries are used up and no step takes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnExhausted {
    /// The run fails.
    #[default]
    Fail,
    /// The step is parked until someone looks at it.
    Park,
    /// This branch ends, and the run goes on.
    Proceed,
}

/// When what follows from a step may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Once the step's outcome is on disk: whatever happens to the machine, it counts.
    #[default]
    Sync,
    /// At once. The outcome is on disk within 50 ms, or as soon as somebody waits for it. A process that dies loses
    /// nothing; a machine that loses power within that time takes back the outcome and what followed from it, and
    /// the step runs again.
    ///
    /// The end of a run is always on disk before anybody hears of it.
    ///
    /// A step with an `on_failure` is always [`Sync`](Self::Sync).
    Async,
}

/// What each pause is longer than the one before: from 1 to [`MAX`](Self::MAX).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor(f64);

// It is never the one number that does not equal itself.
impl Eq for Factor {}

impl Factor {
    /// Largest factor. Beyond it the second pause is the longest one anyway.
    pub const MAX: f64 = 1000.0;

    /// The factor, if it is one.
    pub fn new(factor: f64) -> Option<Self> {
        (1.0..=Self::MAX).contains(&factor).then_some(Self(factor))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl StepPatch {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `policy` with the fields that the patch sets.
    pub fn retry_over(&self, policy: RetryPolicy) -> RetryPolicy {
        RetryPolicy {
            initial: self.initial.unwrap_or(policy.initial),
            factor: self.factor.map_or(policy.factor, Factor::get),
            max_interval: self.max_interval.unwrap_or(policy.max_interval),
            attempts: self.attempts.or(policy.attempts),
            total: self.total.or(policy.total),
        }
    }
}

/// As the options are written in a flow: `attempts = 3, timeout = 5s`.
impl fmt::Display for StepPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            initial,
            factor,
            max_interval,
            attempts,
            total,
            timeout,
            heartbeat,
            exhausted,
            durability,
        } = self;
        let time = |word, time: &Option<Duration>| time.map(|time| format!("{word} = {time:?}"));
        let parts = [
            time("initial", initial),
            factor.map(|factor| format!("factor = {}", factor.get())),
            time("max_interval", max_interval),
            attempts.map(|attempts| format!("attempts = {attempts}")),
            time("total", total),
            time("timeout", timeout),
            time("heartbeat", heartbeat),
            exhausted.as_ref().map(ToString::to_string),
            durability.map(|durability| format!("durability = {durability:?}").to_lowercase()),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for PatchedEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(OnExhausted::Fail) => f.write_str("on_exhausted = fail"),
            Self::Of(OnExhausted::Park) => f.write_str("on_exhausted = park"),
            Self::Of(OnExhausted::Proceed) => f.write_str("on_exhausted = proceed"),
            Self::Recover(step) => write!(f, "on_failure = {step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_sets_its_fields_and_leaves_the_others() {
        let patch = StepPatch { attempts: Some(3), factor: Factor::new(1.5), ..StepPatch::default() };
        let expected = RetryPolicy { attempts: Some(3), factor: 1.5, ..RetryPolicy::DEFAULT };
        assert_eq!(patch.retry_over(RetryPolicy::DEFAULT), expected);
        let empty = StepPatch::default();
        assert!(empty.is_empty() && !patch.is_empty());
        assert_eq!(empty.retry_over(expected), expected);
    }

    #[test]
    fn a_factor_is_from_one_to_a_thousand() {
        for wrong in [0.0, 0.999, 1000.5, -2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Factor::new(wrong), None, "{wrong}");
        }
        assert_eq!(
            [1.0, 1000.0].map(|factor| Factor::new(factor).map(Factor::get)),
            [Some(1.0), Some(1000.0)]
        );
    }

    #[test]
    fn a_patch_is_told_as_it_is_written() {
        let patch = StepPatch {
            attempts: Some(3),
            timeout: Some(Duration::from_secs(5)),
            exhausted: Some(PatchedEnd::Recover(Name::new("refund").unwrap())),
            durability: Some(Durability::Sync),
            ..StepPatch::default()
        };
        assert_eq!(patch.to_string(), "attempts = 3, timeout = 5s, on_failure = refund, durability = sync");
    }
}
