//! Durations in options: `"1h"`, `"1h 30m"`, `"250ms"`. For users, the grammar is in the documentation of `#[flow]`.
//!
//! ```text
//! duration = part { part }
//! part     = digits unit            with or without space around either
//! unit     = "w" | "d" | "h" | "m" | "min" | "s" | "ms"
//! ```
//!
//! Units go from large to small, each at most once, so that a slip such as `"1m 30m"` is told. Fractions are left
//! out since parts can say the same, and weeks are the longest unit since months and years vary.

use std::time::Duration;

/// Longest duration of an option: a hundred years. It keeps every sum with a date inside the calendar.
const DAYS_MAX: u64 = 36_500;

const MS_MAX: u64 = DAYS_MAX * 24 * 3600 * 1000;

/// The units with their length in milliseconds. `min` is another way to write `m`.
pub(crate) const UNITS: &[(&str, u64)] =
    &[("ms", 1), ("s", 1000), ("m", 60_000), ("min", 60_000), ("h", 3_600_000), ("d", DAY), ("w", 7 * DAY)];

const DAY: u64 = 86_400_000;

const GRAMMAR: &str =
    "write a number and a unit such as \"10s\" or \"1h 30m\"; the units are ms, s, m, h, d and w";

/// Reads a duration.
///
/// # Errors
///
/// Says what is wrong with the text and what to write instead.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim_start();
    let mut total = 0_u64;
    let mut smallest = u64::MAX;
    if rest.is_empty() {
        return Err(format!("empty duration: {GRAMMAR}"));
    }
    while !rest.is_empty() {
        let (number, unit, after) = part(rest)?;
        if unit >= smallest {
            return Err(format!("the units of \"{text}\" must go from large to small, each at most once"));
        }
        smallest = unit;
        let sum = number.checked_mul(unit).and_then(|ms| ms.checked_add(total));
        total = sum.filter(|&ms| ms <= MS_MAX).ok_or_else(|| too_long(text))?;
        rest = after.trim_start();
    }
    Ok(Duration::from_millis(total))
}

fn too_long(text: &str) -> String {
    format!("\"{text}\" is too long: the limit is {DAYS_MAX}d, a hundred years")
}

/// Takes one number and its unit, in milliseconds, off the front.
fn part(text: &str) -> Result<(u64, u64, &str), String> {
    let (digits, rest) = split_where(text, |c| !c.is_ascii_digit());
    if digits.is_empty() {
        return Err(format!("expected a number at \"{text}\": {GRAMMAR}"));
    }
    let number = digits.parse().map_err(|_| too_long(text))?;
    let (unit, rest) = split_where(rest.trim_start(), |c| !c.is_alphabetic());
    match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, ms)) => Ok((number, *ms, rest)),
        None if unit.is_empty() && rest.starts_with(['.', ',']) => {
            Err(format!("\"{text}\" is not a whole number: {GRAMMAR}"))
        }
        None if unit.is_empty() => Err(format!("\"{digits}\" has no unit: {GRAMMAR}")),
        None => Err(format!("unknown unit \"{unit}\": {GRAMMAR}")),
    }
}

/// Writes a duration as it is read, from its largest unit to its smallest.
pub(crate) fn text(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut parts = Vec::new();
    for (unit, ms) in UNITS.iter().rev().filter(|(unit, _)| !["min", "w"].contains(unit)) {
        if rest >= *ms {
            parts.push(format!("{}{unit}", rest / ms));
            rest %= ms;
        }
    }
    if parts.is_empty() { "0s".to_owned() } else { parts.join(" ") }
}

fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> u128 {
        parse(text).unwrap().as_millis()
    }

    #[test]
    fn parts_add_up() {
        assert_eq!(ms("250ms"), 250);
        assert_eq!(ms("1h 30m"), 90 * 60_000);
        assert_eq!(ms("1h30min"), 90 * 60_000);
        assert_eq!(ms(" 1 d 2h 3m 4s 5ms "), 93_784_005);
        assert_eq!(ms("0s"), 0);
        assert_eq!(ms("1w 1d"), 8 * u128::from(DAY));
    }

    #[test]
    fn what_is_written_reads_back() {
        for (given, written) in
            [("90m", "1h 30m"), ("2w 1ms", "14d 1ms"), ("1500ms", "1s 500ms"), ("0ms", "0s")]
        {
            let duration = parse(given).unwrap();
            assert_eq!(text(duration), written);
            assert_eq!(parse(written).unwrap(), duration);
        }
    }

    #[test]
    fn a_wrong_text_is_told_for_what_it_is() {
        for (wrong, what) in [
            ("1.5h", "\"1.5h\" is not a whole number"),
            ("1h 2,5m", "\"2,5m\" is not a whole number"),
            ("10", "\"10\" has no unit"),
            ("10S", "unknown unit \"S\""),
            ("5us", "unknown unit \"us\""),
            ("-5s", "expected a number at \"-5s\""),
        ] {
            assert!(parse(wrong).unwrap_err().starts_with(what), "{wrong}");
        }
    }

    #[test]
    fn a_wrong_text_says_what_to_write() {
        for wrong in ["", "  ", "10", "10 minuts", "m", "-5s", "1.5h", "1h,30m", "5us"] {
            let message = parse(wrong).unwrap_err();
            assert!(message.contains("write a number and a unit"), "{wrong}: {message}");
        }
    }

    #[test]
    fn units_go_down() {
        for wrong in ["30m 1h", "1h 1h", "1m 1min"] {
            assert!(parse(wrong).unwrap_err().contains("from large to small"), "{wrong}");
        }
    }

    #[test]
    fn a_hundred_years_are_the_limit() {
        assert_eq!(ms("36500d"), u128::from(MS_MAX));
        for wrong in ["36501d", "36500d 1ms", "99999999999999999999999s", "18446744073709551615d"] {
            assert!(parse(wrong).unwrap_err().contains("too long"), "{wrong}");
        }
    }
}
