//! `docs/checks.md` has a row for every mistake, and what it names as proof is there.

use std::collections::BTreeMap;

use crate::support::page::{case_is_there, cases, named, read};

/// The mistakes, and the rules that the compiler promises to hold.
const MISTAKES: usize = 92;
const RULES: usize = 26;

/// The rows of all tables whose lines have so many cells, by number.
fn rows(page: &str, cells: usize) -> BTreeMap<usize, Vec<&str>> {
    let mut rows = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let row: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let Ok(number) = row[0].parse() else { continue };
        if row.len() == cells {
            let before = rows.insert(number, row);
            assert!(before.is_none(), "row {number} is there twice");
        }
    }
    rows
}

fn mistakes(page: &str) -> BTreeMap<usize, Vec<&str>> {
    rows(page, 4)
}

#[test]
fn every_mistake_and_every_rule_has_one_row() {
    let page = read("checks");
    let numbers = |rows: BTreeMap<usize, Vec<&str>>| rows.into_keys().collect::<Vec<_>>();
    assert_eq!(numbers(mistakes(&page)), (1..=MISTAKES).collect::<Vec<_>>());
    assert_eq!(numbers(rows(&page, 3)), (1..=RULES).collect::<Vec<_>>());
}

#[test]
fn the_counts_at_the_top_are_those_of_the_rows() {
    let page = read("checks");
    let count = |when: &str| mistakes(&page).values().filter(|row| row[2] == when).count();
    let [compiled, impossible, opened, run] = ["compiled", "impossible", "opened", "run"].map(count);
    assert_eq!(compiled + impossible + opened + run, MISTAKES, "each is found at one of these times");
    let sentence = format!(
        "Of the {MISTAKES} mistakes, {compiled} are found when the program is compiled, {impossible} cannot be written, \
         {opened} is found when the store is opened and {run} at run time."
    );
    assert!(page.contains(&sentence), "the page should say: {sentence}");
    assert!(compiled + impossible >= 70, "{compiled} and {impossible} are too few");
}

#[test]
fn everything_that_proves_a_row_is_there() {
    let page = read("checks");
    let mut proofs = 0;
    let mut missing = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        for case in cases(line) {
            proofs += 1;
            if !case_is_there(case) {
                missing.push(format!("{case}: {line}"));
            }
        }
        for test in named(line) {
            proofs += 1;
            if !test.is_there() {
                missing.push(format!("{test:?}: {line}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(proofs > 120, "{proofs} proofs were found");
}

#[test]
fn a_row_without_a_test_says_why_it_cannot_be_written() {
    let page = read("checks");
    for (number, row) in mistakes(&page) {
        let [_, _, when, proof] = row.as_slice() else { unreachable!("a row has four cells") };
        let is_tested = !cases(proof).is_empty() || !named(proof).is_empty();
        let is_explained = *when == "impossible" && proof.split(' ').count() > 1;
        assert!(is_tested || is_explained, "row {number} has no proof: {proof}");
    }
}

#[test]
fn a_case_that_no_row_could_mean_is_not_taken_for_one() {
    assert_eq!(cases("`flow/wrong_names`, `Next::to`, `a/b/c` and `Dex::open(…)`"), ["flow/wrong_names"]);
}
