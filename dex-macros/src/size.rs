//! Sizes in options: `"64 KiB"`, `"1 MiB"`.
//!
//! The grammar: a whole number and a unit, with or without space between; the units are `B`, `KiB`, `MiB` and `GiB`,
//! each 1,024 times the one before. `KB` and its like are no units, since people mean two different things by them.

/// The units with their length in bytes.
pub(crate) const UNITS: &[(&str, u64)] = &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

const GRAMMAR: &str =
    "write a number and a unit such as \"64 KiB\" or \"1 MiB\"; the units are B, KiB, MiB and GiB";

/// Reads a size, in bytes.
///
/// # Errors
///
/// Says what is wrong with the text and what to write instead.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(format!("empty size: {GRAMMAR}"));
    }
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(end);
    let unit = unit.trim_start();
    if digits.is_empty() {
        return Err(format!("expected a number at \"{trimmed}\": {GRAMMAR}"));
    }
    if unit.is_empty() {
        return Err(format!("\"{digits}\" has no unit: {GRAMMAR}"));
    }
    let Some((_, bytes)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("unknown unit \"{unit}\": {GRAMMAR}"));
    };
    let size = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(*bytes));
    size.ok_or_else(|| format!("\"{text}\" is too large to be a size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_are_so_many_bytes() {
        assert_eq!(parse("0 B"), Ok(0));
        assert_eq!(parse("512B"), Ok(512));
        assert_eq!(parse(" 64  KiB "), Ok(65_536));
        assert_eq!(parse("1MiB"), Ok(1_048_576));
        assert_eq!(parse("2 GiB"), Ok(2_147_483_648));
    }

    #[test]
    fn a_wrong_text_says_what_to_write() {
        for wrong in ["", "  ", "64", "KiB", "64 KB", "64 kib", "1.5 MiB", "-1 MiB", "1 MiB 2 KiB", "1 Mi B"]
        {
            let message = parse(wrong).unwrap_err();
            assert!(message.contains("write a number and a unit"), "{wrong}: {message}");
        }
    }

    #[test]
    fn what_no_number_can_hold_is_too_large() {
        for wrong in ["99999999999999999999 B", "18446744073709551615 GiB"] {
            assert!(parse(wrong).unwrap_err().contains("too large"), "{wrong}");
        }
    }
}
