//! When the next attempt starts.

use std::time::Duration;

use super::event::RetryPolicy;
use crate::ids::{Attempt, RunId};
use crate::time::Timestamp;

/// Shortest pause. Less would turn a failing step into a busy loop.
const PAUSE_MIN: Duration = Duration::from_millis(1);

/// How far jitter moves a pause, to either side. Runs that fail together should not come back together.
const JITTER: f64 = 0.1;

/// When the attempt after the `failures`-th failure starts; `None` if there is none.
pub(super) fn next_attempt(
    policy: &RetryPolicy,
    failures: u32,
    first_at: Timestamp,
    now: Timestamp,
    retry_after: Option<Duration>,
    seed: u64,
) -> Option<Timestamp> {
    if policy.attempts.is_some_and(|attempts| failures >= attempts) {
        return None;
    }
    let pause = retry_after.unwrap_or_else(|| spread(pause(policy, failures), seed));
    let at = now.saturating_add(pause.max(PAUSE_MIN));
    match policy.total {
        Some(total) if at.since(first_at) > total => None,
        _ => Some(at),
    }
}

/// `min(initial × factor^(failures-1), max_interval)`.
fn pause(policy: &RetryPolicy, failures: u32) -> Duration {
    let initial = policy.initial.max(PAUSE_MIN);
    let seconds = initial.as_secs_f64() * power(policy.factor.max(1.0), failures.saturating_sub(1));
    // What does not fit a `Duration`, infinity included, is over every maximum.
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX).min(policy.max_interval)
}

/// `base^exponent`, which `f64::powi` does not round alike on every machine.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            result *= base;
        }
        base *= base;
        exponent /= 2;
    }
    result
}

/// Moves `pause` by up to ±10 %, to the millisecond.
fn spread(pause: Duration, seed: u64) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "53 bits of a random number are enough")]
    let unit = (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64;
    let factor = 1.0 - JITTER + 2.0 * JITTER * unit;
    let seconds = pause.as_secs_f64() * factor;
    let spread = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Duration::from_millis(u64::try_from(spread.as_millis()).unwrap_or(u64::MAX))
}

/// A number that differs for each attempt of each run and is the same in every replay.
pub(super) fn seed(run: &RunId, attempt: Attempt) -> u64 {
    let (head, tail) = run.as_bytes().split_at(8);
    let part = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
    mix(part(head) ^ mix(part(tail))) ^ mix(attempt.execution.0 << 32 | u64::from(attempt.number))
}

/// Source: Sebastiano Vigna, "splitmix64.c", public domain.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(policy: &RetryPolicy, count: u32) -> Vec<Duration> {
        (1..=count).map(|failures| pause(policy, failures)).collect()
    }

    #[test]
    fn pauses_double_from_a_second_to_a_hundred() {
        let seconds: Vec<_> = pauses(&RetryPolicy::DEFAULT, 9).iter().map(Duration::as_secs).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 100, 100]);
    }

    #[test]
    fn a_policy_without_pauses_never_grows_into_long_ones() {
        let policy = RetryPolicy { initial: Duration::ZERO, factor: 1.0, ..RetryPolicy::DEFAULT };
        assert_eq!(pause(&policy, 1), PAUSE_MIN);
        assert_eq!(pause(&policy, u32::MAX), PAUSE_MIN);
        let odd = RetryPolicy { factor: f64::NAN, ..policy };
        assert_eq!(pause(&odd, 9), PAUSE_MIN);
    }

    #[test]
    fn two_hundred_failures_without_a_maximum_saturate() {
        let policy = RetryPolicy { max_interval: Duration::MAX, total: None, ..RetryPolicy::DEFAULT };
        let all = pauses(&policy, 200);
        assert!(all.is_sorted());
        assert_eq!(all.last(), Some(&Duration::MAX));
        let at = next_attempt(&policy, 200, Timestamp::EPOCH, Timestamp::EPOCH, None, 7);
        assert_eq!(at, Some(Timestamp::MAX));
    }

    #[test]
    fn jitter_stays_within_a_tenth_and_repeats() {
        for seed in 0..1_000 {
            let spread_out = spread(Duration::from_secs(10), seed);
            assert!(spread_out >= Duration::from_secs(9) && spread_out <= Duration::from_secs(11));
            assert_eq!(spread_out, spread(Duration::from_secs(10), seed));
        }
    }

    #[test]
    fn each_attempt_of_each_run_has_its_own_spread() {
        let attempt = |execution, number| Attempt { execution: crate::ids::ExecutionNo(execution), number };
        let run = |byte| RunId::from_bytes([byte; 16]);
        let seeds = [(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1)]
            .map(|(byte, execution, number)| seed(&run(byte), attempt(execution, number)));
        let pauses: std::collections::BTreeSet<_> =
            seeds.iter().map(|seed| spread(Duration::from_secs(1_000), *seed)).collect();
        assert_eq!(pauses.len(), seeds.len());
        assert_eq!(seeds[0], seed(&run(1), attempt(1, 1)));
    }

    #[test]
    fn the_limit_of_attempts_counts_the_first() {
        let policy = RetryPolicy { attempts: Some(3), ..RetryPolicy::DEFAULT };
        let next = |failures| next_attempt(&policy, failures, Timestamp::EPOCH, Timestamp::EPOCH, None, 0);
        assert!(next(2).is_some());
        assert_eq!(next(3), None);
    }

    #[test]
    fn no_attempt_starts_after_the_total_time() {
        let policy = RetryPolicy { total: Some(Duration::from_secs(10)), ..RetryPolicy::DEFAULT };
        let after = |seconds| Timestamp::EPOCH.saturating_add(Duration::from_secs(seconds));
        let next = |now| next_attempt(&policy, 1, Timestamp::EPOCH, now, None, 0);
        assert!(next(after(8)).is_some());
        assert_eq!(next(after(10)), None);
    }

    #[test]
    fn a_handlers_hint_replaces_the_pause_but_not_the_limits() {
        let policy = RetryPolicy { total: Some(Duration::from_secs(10)), ..RetryPolicy::DEFAULT };
        let next = |hint| {
            let hint = Some(Duration::from_secs(hint));
            next_attempt(&policy, 1, Timestamp::EPOCH, Timestamp::EPOCH, hint, 0)
        };
        assert_eq!(next(7), Some(Timestamp::EPOCH.saturating_add(Duration::from_secs(7))));
        assert_eq!(next(11), None);
        assert_eq!(next(0), Some(Timestamp::EPOCH.saturating_add(PAUSE_MIN)));
    }
}
