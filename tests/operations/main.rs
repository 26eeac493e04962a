//! Every operation on every kind of run: what it gives is what `docs/errors.md` says, by type and by name.
//!
//! The page is the table of expectations; nothing may hang, and nothing panic.
#![cfg(test)]

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod states;

use std::collections::{BTreeMap, BTreeSet};

use calls::{BY_NAME, BY_TYPE};
use states::{State, World};

/// What `docs/errors.md` says: of each operation, what it gives in each state.
fn page() -> BTreeMap<String, BTreeMap<String, String>> {
    let page = support::page::read("errors");
    let (_, table) = page.split_once("## Operations and runs").expect("the page has the table");
    let rows =
        table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let mut rows = rows.map(cells);
    let titles = rows.next().expect("the table has a head");
    let mut said = BTreeMap::new();
    for row in rows.skip(1) {
        // A column may be about several states.
        let columns = titles.iter().zip(&row).skip(1);
        let given: BTreeMap<_, _> = columns
            .flat_map(|(titles, given)| {
                titles.split(", ").map(move |title| (title.to_owned(), given.clone()))
            })
            .collect();
        assert_eq!(given.len(), State::ALL.len(), "a column for each state");
        for operation in row[0].split(", ") {
            let before = said.insert(operation.to_owned(), given.clone());
            assert_eq!(before, None, "{operation} is there twice");
        }
    }
    said
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
}

/// What every operation gives in `state`.
async fn found(state: State, by_name: bool) -> Vec<(&'static str, String)> {
    let operations = if by_name { BY_NAME } else { BY_TYPE };
    let world = World::new(state, operations).await;
    let mut found = Vec::new();
    for operation in operations {
        let given = if by_name { world.by_name(operation).await } else { world.by_type(operation).await };
        found.push((*operation, given));
    }
    found
}

async fn compare(by_name: bool) {
    let said = page();
    let mut wrong = Vec::new();
    for state in State::ALL {
        for (operation, given) in found(state, by_name).await {
            let expected = said.get(operation).and_then(|row| row.get(state.title())).map(String::as_str);
            if expected != Some(given.as_str()) {
                wrong.push(format!(
                    "{operation} on a run that is {}: {given}, said is {expected:?}",
                    state.title()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "by name: {by_name}\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_operation_by_type_gives_what_the_page_says_in_every_state() {
    compare(false).await;
}

#[tokio::test]
async fn every_operation_by_name_gives_what_the_page_says_in_every_state() {
    compare(true).await;
}

#[test]
fn the_page_names_every_operation_and_no_other() {
    let said: BTreeSet<_> = page().into_keys().collect();
    let all = BY_TYPE.iter().chain(BY_NAME).map(|operation| (*operation).to_owned()).collect();
    assert_eq!(said, all);
}

/// A handle is got by an id first, and that is where another flow or no run at all is told.
#[tokio::test]
async fn no_handle_is_given_of_another_flow_or_of_no_run() {
    let world = World::new(State::Open, &["get"]).await;
    world.refuses_strangers().await;
}
