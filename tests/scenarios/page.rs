//! The page has every row once, and names tests that there are.

use crate::support::page::{Named, case_is_there, cases, named, read, tests_of};

/// What a row says that names no test of today.
const WITHOUT_TEST: [&str; 2] = ["Cannot arise", "Later: "];

/// The rows of the list: 1 to 123, some of which have letters.
fn expected() -> Vec<String> {
    let letters = |row| match row {
        54 => "ab",
        58 => "abcde",
        75 => "abc",
        _ => "",
    };
    let rows = (1..=123).map(|row: u32| (row, letters(row)));
    rows.flat_map(|(row, letters)| match letters {
        "" => vec![row.to_string()],
        letters => letters.chars().map(|letter| format!("{row}{letter}")).collect(),
    })
    .collect()
}

/// Number and third cell of each row of the page.
fn rows(page: &str) -> Vec<(String, &str)> {
    let cells = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.splitn(3, " | ");
        Some((cells.next()?.to_owned(), cells.nth(1)?))
    });
    cells.filter(|(row, _)| row.starts_with(|first: char| first.is_ascii_digit())).collect()
}

#[test]
fn the_page_has_every_row_once_and_in_order() {
    let page = read("scenarios");
    let found: Vec<_> = rows(&page).into_iter().map(|(row, _)| row).collect();
    assert_eq!(found, expected());
}

#[test]
fn every_row_names_a_test_or_says_why_there_is_none() {
    let page = read("scenarios");
    for (row, says) in rows(&page) {
        let has_test = named(says).iter().any(Named::is_there) || !cases(says).is_empty();
        let is_explained = WITHOUT_TEST.iter().any(|word| says.starts_with(word));
        assert!(has_test || is_explained, "row {row} says {says:?}");
    }
}

#[test]
fn what_the_page_names_is_there() {
    let page = read("scenarios");
    // The row that explains the names has none of a test.
    let named: Vec<_> = rows(&page).into_iter().flat_map(|(_, says)| named(says)).collect();
    assert!(named.len() > 120, "{} tests are named", named.len());
    let wrong: Vec<_> = named.iter().filter(|test| !test.is_there()).collect();
    assert!(wrong.is_empty(), "missing: {wrong:#?}");
    let wrong: Vec<_> = rows(&page).into_iter().flat_map(|(_, says)| cases(says)).collect();
    let wrong: Vec<_> = wrong.into_iter().filter(|program| !case_is_there(program)).collect();
    assert!(wrong.is_empty(), "no such program: {wrong:?}");
}

#[test]
fn every_scenario_that_is_tested_here_is_on_the_page() {
    let named = named(&read("scenarios"));
    let tests = tests_of("scenarios");
    assert!(tests.len() > 60, "{} tests were found", tests.len());
    let missing: Vec<_> = tests.iter().filter(|test| !named.contains(test)).collect();
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}
