//! The rules of options, and what is made of those that keep them. `#[step]` has the same rules.

use std::sync::Arc;
use std::time::Duration;

use super::{Effective, End, Given};
use crate::definition::describe::StepDefinition;
use crate::engine::{Durability, Factor, PatchedEnd, StepPatch};
use crate::ids::{IdError, Name};

/// Shortest time that can be set. Nothing can be done in less.
const TIME_MIN: Duration = Duration::from_millis(1);

/// Longest time that can be set: a hundred years. It keeps every sum with a date inside the calendar.
const TIME_MAX: Duration = Duration::from_hours(36_500 * 24);

/// Options that cannot work, by themselves or with those that the step has already.
///
/// No repetition can mend them: the step that decides so is parked with this as the reason, an RPC fails, a run is
/// not started.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepOptionsError {
    /// A time is shorter than a millisecond.
    #[error("`{option}` is {given:?}: give it a millisecond at least, or leave it out")]
    TooShort {
        /// The option.
        option: &'static str,
        /// What it was set to.
        given: Duration,
    },
    /// A time is longer than a hundred years.
    #[error("`{option}` is {given:?}: the limit is 36500 days, a hundred years")]
    TooLong {
        /// The option.
        option: &'static str,
        /// What it was set to.
        given: Duration,
    },
    /// Pauses would get shorter, or be none.
    #[error("`factor` is {given}, and has to be from 1 to {max}: each pause is so many times the one before", max = Factor::MAX)]
    Factor {
        /// What it was set to.
        given: f64,
    },
    /// Not even one attempt.
    #[error("`attempts` counts the first one too: give at least 1")]
    NoAttempts,
    /// The first pause would be longer than the longest.
    #[error(
        "`initial`, {initial:?}, is longer than `max_interval`, {max_interval:?}: shorten the one, or set the other with it"
    )]
    PausesOutOfOrder {
        /// Pause after the first failure.
        initial: Duration,
        /// Longest pause.
        max_interval: Duration,
    },
    /// The attempt would be over before anybody could miss a sign of life.
    #[error(
        "`heartbeat`, {heartbeat:?}, is not shorter than `timeout`, {timeout:?}, so it would never be missed: shorten it, or set the other with it"
    )]
    HeartbeatNeverMissed {
        /// Longest time between two signs of life.
        heartbeat: Duration,
        /// Longest attempt.
        timeout: Duration,
    },
    /// Both say what happens when the retries are used up.
    #[error("`on_failure` says what happens when the retries are used up: leave it or `on_exhausted` out")]
    TwoEnds,
    /// A recovery acts on what is certain.
    #[error(
        "a step with `on_failure` is always `Sync`, since its recovery acts on what is certain: leave out `durability`, or say `on_exhausted` with it"
    )]
    UncertainRecovery,
    /// The stored name of the recovery step is none.
    #[error("the step of `on_failure`: {0}")]
    Name(#[from] IdError),
}

impl Given {
    /// What a movement to `step` changes about its options; `None` if it changes nothing.
    pub(crate) fn patch(
        &self,
        step: &'static StepDefinition,
    ) -> Result<Option<Arc<StepPatch>>, StepOptionsError> {
        if *self == Self::NOTHING {
            return Ok(None);
        }
        let patch = StepPatch {
            initial: time("initial", self.initial)?,
            factor: factor(self.factor)?,
            max_interval: time("max_interval", self.max_interval)?,
            attempts: attempts(self.attempts)?,
            total: time("total", self.total)?,
            timeout: time("timeout", self.timeout)?,
            heartbeat: time("heartbeat", self.heartbeat)?,
            exhausted: self.end()?,
            durability: self.durability,
        };
        fits(&patch, &Effective::of(step, Some(&patch)))?;
        Ok(Some(Arc::new(patch)))
    }

    fn end(&self) -> Result<Option<PatchedEnd>, StepOptionsError> {
        match (self.on_failure, self.on_exhausted) {
            (Some(_), Some(_)) => Err(StepOptionsError::TwoEnds),
            (Some(step), None) => Ok(Some(PatchedEnd::Recover(Name::new(step)?))),
            (None, then) => Ok(then.map(PatchedEnd::Of)),
        }
    }
}

fn time(option: &'static str, given: Option<Duration>) -> Result<Option<Duration>, StepOptionsError> {
    match given {
        Some(given) if given < TIME_MIN => Err(StepOptionsError::TooShort { option, given }),
        Some(given) if given > TIME_MAX => Err(StepOptionsError::TooLong { option, given }),
        Some(given) => {
            // The store keeps microseconds, and the options are the same before and after a restart.
            let micros = u64::try_from(given.as_micros()).unwrap_or(u64::MAX);
            Ok(Some(Duration::from_micros(micros)))
        }
        None => Ok(None),
    }
}

fn factor(given: Option<f64>) -> Result<Option<Factor>, StepOptionsError> {
    let Some(given) = given else { return Ok(None) };
    Factor::new(given).map(Some).ok_or(StepOptionsError::Factor { given })
}

fn attempts(given: Option<u32>) -> Result<Option<u32>, StepOptionsError> {
    if given == Some(0) { Err(StepOptionsError::NoAttempts) } else { Ok(given) }
}

/// Rules over two options, one of which the step may have. Wrong is what the movement says in vain; to cut short what
/// the step says is no mistake, or a longer heartbeat in a new build could park runs whose movement has a timeout.
fn fits(patch: &StepPatch, with: &Effective<'_>) -> Result<(), StepOptionsError> {
    let (initial, max_interval) = (with.retry.initial, with.retry.max_interval);
    if patch.initial.is_some() && initial > max_interval {
        return Err(StepOptionsError::PausesOutOfOrder { initial, max_interval });
    }
    if let (Some(heartbeat), Some(timeout)) = (patch.heartbeat, with.timeout)
        && heartbeat >= timeout
    {
        return Err(StepOptionsError::HeartbeatNeverMissed { heartbeat, timeout });
    }
    let recovers = matches!(with.end, End::Recover(_));
    if recovers && patch.durability == Some(Durability::Async) {
        return Err(StepOptionsError::UncertainRecovery);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::StepOptions;
    use crate::definition::handle::Step;
    use crate::engine::{OnExhausted, RetryPolicy};

    static PLAIN: StepDefinition = StepDefinition::DEFAULT;

    static STRICT: StepDefinition = StepDefinition {
        timeout: Some(Duration::from_secs(30)),
        heartbeat: Some(Duration::from_secs(10)),
        retry: RetryPolicy { max_interval: Duration::from_secs(5), ..RetryPolicy::DEFAULT },
        on_failure: Some("mend"),
        ..StepDefinition::DEFAULT
    };

    const OPTIONS: StepOptions<(), u32> = StepOptions::new();

    fn patch(options: StepOptions<(), u32>) -> Result<Option<Arc<StepPatch>>, StepOptionsError> {
        options.given().patch(&PLAIN)
    }

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn options_that_set_nothing_are_no_patch() {
        assert_eq!(patch(OPTIONS), Ok(None));
    }

    #[test]
    fn each_option_gives_its_field() {
        let options = OPTIONS
            .initial(secs(2))
            .factor(1.5)
            .max_interval(secs(3))
            .attempts(4)
            .total(secs(5))
            .timeout(secs(6))
            .heartbeat(Duration::from_nanos(1_234_567))
            .on_exhausted(OnExhausted::Park)
            .durability(Durability::Async);
        let expected = StepPatch {
            initial: Some(secs(2)),
            factor: Factor::new(1.5),
            max_interval: Some(secs(3)),
            attempts: Some(4),
            total: Some(secs(5)),
            timeout: Some(secs(6)),
            // What the store keeps of it.
            heartbeat: Some(Duration::from_micros(1_234)),
            exhausted: Some(PatchedEnd::Of(OnExhausted::Park)),
            durability: Some(Durability::Async),
        };
        assert_eq!(patch(options).unwrap().as_deref(), Some(&expected));
        let recovery = patch(OPTIONS.on_failure(Step::new("mend"))).unwrap().unwrap();
        assert_eq!(recovery.exhausted, Some(PatchedEnd::Recover(Name::new("mend").unwrap())));
    }

    #[test]
    fn times_are_from_a_millisecond_to_a_hundred_years() {
        let set: [fn(Duration) -> StepOptions<(), u32>; 4] = [
            |time| OPTIONS.initial(time).max_interval(TIME_MAX),
            |time| OPTIONS.total(time),
            |time| OPTIONS.timeout(time),
            |time| OPTIONS.heartbeat(time),
        ];
        for set in set {
            for short in [Duration::ZERO, Duration::from_micros(999)] {
                assert!(matches!(patch(set(short)), Err(StepOptionsError::TooShort { .. })));
            }
            for long in [Duration::MAX, TIME_MAX + Duration::from_nanos(1)] {
                assert!(matches!(patch(set(long)), Err(StepOptionsError::TooLong { .. })));
            }
            assert!(patch(set(TIME_MIN)).is_ok() && patch(set(TIME_MAX)).is_ok());
        }
        let longest = |time| patch(OPTIONS.initial(TIME_MIN).max_interval(time));
        assert!(longest(Duration::ZERO).is_err() && longest(TIME_MIN).is_ok());
    }

    #[test]
    fn numbers_have_their_bounds() {
        for wrong in [0.5, -1.0, 1000.1, f64::INFINITY] {
            assert_eq!(patch(OPTIONS.factor(wrong)), Err(StepOptionsError::Factor { given: wrong }));
        }
        assert!(patch(OPTIONS.factor(f64::NAN)).is_err());
        assert_eq!(patch(OPTIONS.attempts(0)), Err(StepOptionsError::NoAttempts));
        assert!(patch(OPTIONS.factor(1.0).attempts(1)).is_ok());
    }

    #[test]
    fn options_are_checked_with_those_that_the_step_has() {
        let strict = |options: StepOptions<(), u32>| options.given().patch(&STRICT).map(drop);
        let pauses = StepOptionsError::PausesOutOfOrder { initial: secs(6), max_interval: secs(5) };
        assert_eq!(strict(OPTIONS.initial(secs(6))), Err(pauses));
        assert_eq!(strict(OPTIONS.initial(secs(6)).max_interval(secs(6))), Ok(()));
        assert!(matches!(
            strict(OPTIONS.heartbeat(secs(30))),
            Err(StepOptionsError::HeartbeatNeverMissed { .. })
        ));
        assert_eq!(strict(OPTIONS.timeout(secs(10)).heartbeat(secs(9))), Ok(()));
        assert_eq!(strict(OPTIONS.durability(Durability::Async)), Err(StepOptionsError::UncertainRecovery));
        let no_recovery = OPTIONS.on_exhausted(OnExhausted::Fail);
        assert_eq!(strict(no_recovery.durability(Durability::Async)), Ok(()));
    }

    #[test]
    fn a_movement_may_cut_short_what_the_step_says() {
        let strict = |options: StepOptions<(), u32>| options.given().patch(&STRICT).map(drop);
        assert_eq!(strict(OPTIONS.timeout(secs(10))), Ok(()));
        assert_eq!(strict(OPTIONS.max_interval(Duration::from_millis(10))), Ok(()));
    }

    #[test]
    fn what_the_step_itself_has_wrong_is_not_the_movements_fault() {
        static ODD: StepDefinition = StepDefinition {
            retry: RetryPolicy { max_interval: Duration::ZERO, ..RetryPolicy::DEFAULT },
            ..StepDefinition::DEFAULT
        };
        assert!(OPTIONS.attempts(3).given().patch(&ODD).is_ok());
    }

    #[test]
    fn one_thing_happens_when_the_retries_are_used_up() {
        let both = OPTIONS.on_failure(Step::new("mend")).on_exhausted(OnExhausted::Park);
        assert_eq!(patch(both), Err(StepOptionsError::TwoEnds));
    }
}
