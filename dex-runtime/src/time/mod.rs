//! Points in time, and the one place that asks the system for them and sleeps. It does not know what for.

mod alarm;

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::alarm::Alarm;

/// A point in time: microseconds since 1970-01-01T00:00:00Z, from there to the end of the year 9999.
///
/// Arithmetic saturates at both ends, so no duration that a user writes can overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The start of 1970.
    pub const EPOCH: Self = Self(0);

    /// The last microsecond of the year 9999; further points are clamped to it.
    pub const MAX: Self = Self(253_402_300_799_999_999);

    /// The point `micros` microseconds after [`EPOCH`](Self::EPOCH), clamped to the range.
    pub const fn from_micros(micros: i64) -> Self {
        if micros < 0 {
            Self::EPOCH
        } else if micros > Self::MAX.0 {
            Self::MAX
        } else {
            Self(micros)
        }
    }

    /// Microseconds since [`EPOCH`](Self::EPOCH).
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The point `duration` later, rounded up to the microsecond and clamped to the range.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        let up = u128::from(!duration.subsec_nanos().is_multiple_of(1_000));
        let micros = i64::try_from(duration.as_micros() + up).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// How long after `earlier` this is; zero if it is not after.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self::EPOCH.saturating_add(since),
            Err(_) => Self::EPOCH,
        }
    }
}

impl From<Timestamp> for SystemTime {
    fn from(at: Timestamp) -> Self {
        UNIX_EPOCH + at.since(Timestamp::EPOCH)
    }
}

/// RFC 3339 in UTC, with microseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.rem_euclid(1_000_000);
        let seconds = self.0.div_euclid(1_000_000);
        let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// A future of the clock.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where the engine gets the time from: the system, or a test that sets it.
///
/// It is a wall clock, and may be changed in either direction: what waits for an instant waits until the clock
/// shows it. Nothing relies on times that only grow; order comes from numbers. A clock that is set back makes
/// timers, pauses and timeouts as much later, and loses none.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The current time, rounded up to the microsecond: a deadline made from it is never early.
    fn now(&self) -> Timestamp;

    /// Completes at `at` or soon after, or earlier if the clock was changed; the caller looks at
    /// [`now`](Self::now) again.
    fn sleep_until(&self, at: Timestamp) -> Sleep;
}

/// Longest sleep before the system's wall clock is looked at again.
///
/// A clock that was set forward makes a timer late by at most this.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// How much of a sleep is left to the alarm: more than the runtime's timer, which rounds up twice to whole
/// milliseconds, is mostly late.
const LAST: Duration = Duration::from_millis(5);

/// The system's wall clock.
///
/// It wakes sleepers some tens of microseconds after their instant: a thread of its own does, which begins with the
/// first sleep that comes to its end, stands still while there is none, and ends with the clock. Clones share it.
///
/// ```
/// use dex_runtime::{Clock, SystemClock};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let clock = SystemClock::default();
/// let at = clock.now().saturating_add(std::time::Duration::from_micros(100));
/// while clock.now() < at {
///     clock.sleep_until(at).await;
/// }
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct SystemClock {
    alarm: Arc<Alarm>,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        now()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep {
        let wait = at.since(now());
        let coarse = wait.saturating_sub(LAST).min(SLEEP_MAX);
        let until = Instant::now() + coarse;
        let alarm = Arc::clone(&self.alarm);
        Box::pin(async move {
            if !coarse.is_zero() {
                tokio::time::sleep_until(until.into()).await;
            }
            let rest = at.since(now());
            if !rest.is_zero() && rest <= LAST {
                end_of_sleep(&alarm, rest).await;
            }
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system for the time")]
fn now() -> Timestamp {
    SystemTime::now().into()
}

async fn end_of_sleep(alarm: &Arc<Alarm>, rest: Duration) {
    // The time from which `rest` counts was rounded up.
    let rest = rest + Duration::from_micros(1);
    match alarm.at(Instant::now() + rest) {
        Ok(ring) => ring.await,
        #[expect(clippy::disallowed_methods, reason = "this is the one place that sleeps")]
        Err(_) => tokio::time::sleep(rest).await,
    }
}

/// How much real time has passed since it was started, for threads that wait for the machine and not for an
/// engine's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// One that begins now.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// What is left of `limit`.
    pub(crate) fn rest(self, limit: Duration) -> Duration {
        limit.saturating_sub(self.0.elapsed())
    }
}

/// Completes with the first of two.
pub(crate) async fn first_of(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|cx| match one.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => other.as_mut().poll(cx),
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_shown_as_rfc_3339() {
        assert_eq!(Timestamp::EPOCH.to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999999Z");
        let leap = Timestamp::from_micros(1_709_210_096_000_007);
        assert_eq!(leap.to_string(), "2024-02-29T12:34:56.000007Z");
    }

    #[test]
    fn adding_saturates_at_the_end_of_the_year_9999() {
        assert_eq!(Timestamp::EPOCH.saturating_add(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MAX.saturating_add(Duration::from_nanos(1)), Timestamp::MAX);
        assert_eq!(Timestamp::from_micros(i64::MIN), Timestamp::EPOCH);
    }

    #[test]
    fn a_part_of_a_microsecond_counts_as_a_whole_one() {
        assert_eq!(Timestamp::EPOCH.saturating_add(Duration::from_nanos(1_001)).as_micros(), 2);
        assert_eq!(Timestamp::EPOCH.saturating_add(Duration::from_micros(2)).as_micros(), 2);
    }

    #[test]
    fn a_length_between_two_points_is_never_negative() {
        let (early, late) = (Timestamp::from_micros(5), Timestamp::from_micros(9));
        assert_eq!(late.since(early), Duration::from_micros(4));
        assert_eq!(early.since(late), Duration::ZERO);
    }
}
