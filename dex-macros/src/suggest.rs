//! "Did you mean": the nearest of the legal words.

use std::fmt::Write as _;

/// ": did you mean `x`?" with the nearest word, or nothing if none is near.
pub(crate) fn did_you_mean(written: &str, legal: &[impl AsRef<str>]) -> String {
    match nearest(written, legal) {
        Some(word) => format!(": did you mean `{word}`?"),
        None => String::new(),
    }
}

/// How many bytes at the beginning of two words show that they are meant to be one.
const BEGINNING: usize = 3;

/// The legal word that a typing slip could have turned into `written`.
pub(crate) fn nearest<'a>(written: &str, legal: &'a [impl AsRef<str>]) -> Option<&'a str> {
    // A third of the letters wrong is a slip; more is another word, unless it begins alike.
    let slips_max = (written.chars().count() / 3).max(1);
    let begins_alike = |word: &str| written.get(..BEGINNING).is_some_and(|begin| word.starts_with(begin));
    legal
        .iter()
        .map(|word| (distance(written, word.as_ref()), word.as_ref()))
        .filter(|(slips, word)| *slips <= slips_max || begins_alike(word))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, word)| word)
}

/// "`a`, `b` and `c`".
pub(crate) fn list(words: &[impl AsRef<str>]) -> String {
    let mut text = String::new();
    for (place, word) in words.iter().enumerate() {
        let before = match place {
            0 => "",
            last if last + 1 == words.len() => " and ",
            _ => ", ",
        };
        let _ = write!(text, "{before}`{}`", word.as_ref());
    }
    text
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let at = |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX - 1);
            let mut best =
                (at(&last, j) + usize::from(x != y)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(&y) && b.get(j - 1) == Some(&x);
            if swapped {
                best = best.min(at(&before_last, j - 1) + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word() {
        let legal = ["retry", "timeout", "on_failure"];
        assert_eq!(nearest("retyr", &legal), Some("retry"));
        assert_eq!(nearest("timout", &legal), Some("timeout"));
        assert_eq!(nearest("onfailure", &legal), Some("on_failure"));
        assert_eq!(nearest("retires", &legal), Some("retry"));
    }

    #[test]
    fn another_word_finds_nothing() {
        assert_eq!(nearest("colour", &["retry", "timeout"]), None);
        assert_eq!(did_you_mean("colour", &["retry"]), "");
    }

    #[test]
    fn lists_read_like_a_sentence() {
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
