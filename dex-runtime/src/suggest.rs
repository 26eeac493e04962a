//! Help with a name that nobody has: the nearest that there is, and all of them.

/// ", did you mean `x`?" with the nearest name, or nothing if none is near.
pub(crate) fn did_you_mean(written: &str, legal: &[&str]) -> String {
    // A third of the letters wrong is a slip; more is another word.
    let slips_max = (written.chars().count() / 3).max(1);
    let near = legal.iter().map(|name| (slips(written, name), *name)).min();
    match near {
        Some((slips, name)) if slips <= slips_max => format!(", did you mean `{name}`?"),
        _ => String::new(),
    }
}

/// "`a`, `b` and `c`".
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => quoted.concat(),
    }
}

/// Letters to insert, remove or replace; case and the kind of separator are no difference.
///
/// The distance of Levenshtein, one row of its table at a time.
fn slips(a: &str, b: &str) -> usize {
    let letters = |text: &str| -> Vec<char> {
        text.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let (a, b) = (letters(a), letters(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        // The cell up and to the left of the next one, and the one to its left.
        let (mut diagonal, mut left) = (i, i + 1);
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let best = (diagonal + usize::from(x != y)).min(left + 1).min(*cell + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        assert_eq!(slips("", "abc"), 3);
        assert_eq!(slips("abc", ""), 3);
        assert_eq!(slips("kitten", "sitting"), 3);
        assert_eq!(slips("APPROVE", "approve"), 0);
        assert_eq!(slips("seller-says", "seller_says"), 0);
    }

    #[test]
    fn the_nearest_name_is_meant_if_it_is_near() {
        assert_eq!(did_you_mean("aprove", &["status", "approve"]), ", did you mean `approve`?");
        assert_eq!(did_you_mean("colour", &["status", "approve"]), "");
        assert_eq!(did_you_mean("x", &[]), "");
    }

    #[test]
    fn lists_read_like_a_sentence() {
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
