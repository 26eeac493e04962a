//! `docs/context.md` has every row, its methods are in the contexts that it says, and its proof is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::page::{case_is_there, cases, named, read, root, tests_of};

/// What the other system's context can do, what it promises without saying so, and what it has not.
const ROWS: usize = 56;

/// A row of the page: its number, what serves it, where, and what proves it.
struct Row<'a> {
    number: usize,
    here: &'a str,
    places: &'a str,
    proof: &'a str,
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let cells = page.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [number, _, here, places, proof] = cells[..] else { return None };
        Some(Row { number: number.parse().ok()?, here, places, proof })
    });
    cells.collect()
}

/// The methods of contexts that are named in a cell: `ctx.name(`.
fn methods(cell: &str) -> BTreeSet<&str> {
    cell.split("`ctx.").skip(1).filter_map(|rest| rest.split('(').next()).collect()
}

/// The public methods of the contexts, and where each can be called, in the words of the page.
fn contexts() -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let folder = root().join("dex-runtime/src/definition/context");
    for file in ["step", "wait", "rpc", "reading"] {
        let text = fs::read_to_string(folder.join(format!("{file}.rs"))).unwrap();
        for block in text.split("\nimpl<F> ").skip(1) {
            let places: [&str; 2] = match block.split('<').next().unwrap() {
                // A step is always given the mutable one.
                "StepContext" => ["S", "S"],
                "WaitContext" => ["W", "W+"],
                "RpcContext" => ["R", "R+"],
                _ => continue,
            };
            for method in block.split("\n}").next().unwrap().split("    pub fn ").skip(1) {
                let name = method.split(['<', '(']).next().unwrap();
                let signature = method.split('{').next().unwrap();
                let of_method = found.entry(name.to_owned()).or_default();
                of_method.insert(places[1]);
                if !signature.contains("&mut self") {
                    of_method.insert(places[0]);
                }
            }
        }
    }
    let order = ["S", "W", "W+", "R", "R+"];
    let words =
        |places: BTreeSet<&str>| order.into_iter().filter(|place| places.contains(place)).collect::<Vec<_>>();
    found.into_iter().map(|(name, places)| (name, words(places).join(" "))).collect()
}

#[test]
fn the_page_has_every_row_once_and_in_order() {
    let page = read("context");
    let numbers: Vec<_> = rows(&page).iter().map(|row| row.number).collect();
    assert_eq!(numbers, (1..=ROWS).collect::<Vec<_>>());
}

#[test]
fn every_row_names_proof_that_is_there() {
    let page = read("context");
    let mut missing = Vec::new();
    for row in rows(&page) {
        let (tests, programs) = (named(row.proof), cases(row.proof));
        assert!(!tests.is_empty() || !programs.is_empty(), "row {} has no proof", row.number);
        missing.extend(
            tests.iter().filter(|test| !test.is_there()).map(|test| format!("{}: {test:?}", row.number)),
        );
        let programs = programs.into_iter().filter(|program| !case_is_there(program));
        missing.extend(programs.map(|program| format!("{}: {program}", row.number)));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_methods_of_a_row_are_in_the_contexts_that_it_says_and_in_no_others() {
    let (page, contexts) = (read("context"), contexts());
    assert_eq!(contexts["get"], "S W W+ R R+", "the methods were not found");
    assert_eq!(contexts["set"], "S W+ R+", "the methods were not found");
    for row in rows(&page).iter().filter(|row| row.places != "-") {
        // The first one serves the row; others may be elsewhere.
        let first = row.here.split("`ctx.").nth(1).and_then(|rest| rest.split('(').next());
        let first = first.unwrap_or_else(|| panic!("row {} names no method", row.number));
        let places =
            contexts.get(first).unwrap_or_else(|| panic!("row {}: there is no `{first}`", row.number));
        assert_eq!(places, row.places, "row {}: `{first}`", row.number);
    }
    for row in rows(&page).iter().filter(|row| row.places == "-") {
        let unknown: Vec<_> =
            methods(row.here).into_iter().filter(|method| !contexts.contains_key(*method)).collect();
        assert!(unknown.is_empty(), "row {} names {unknown:?}", row.number);
    }
}

#[test]
fn every_method_of_a_context_is_on_the_page() {
    let page = read("context");
    let named: BTreeSet<_> = rows(&page).iter().flat_map(|row| methods(row.here)).collect();
    let missing: Vec<_> = contexts().into_keys().filter(|method| !named.contains(method.as_str())).collect();
    assert!(missing.is_empty(), "no row names {missing:?}");
}

#[test]
fn what_is_tested_about_contexts_is_on_the_page_or_is_about_unit_tests_and_readers() {
    let page = read("context");
    let named = named(&page);
    let tests = tests_of("contexts");
    assert!(tests.len() >= 15, "{} tests were found", tests.len());
    let others = |test: &str| {
        test.contains("unit_test") || test.contains("history") || test.contains("page_of_large_values")
    };
    let missing: Vec<_> = tests.iter().filter(|test| !others(&test.test) && !named.contains(test)).collect();
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}
