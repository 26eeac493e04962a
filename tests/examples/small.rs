//! The examples that fit on a page.

use crate::programs::{example, run, run_well};
use crate::shop::{Deed, Ledger};

#[test]
fn hello_greets_each_time_it_is_run() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        assert_eq!(run_well(&mut example("hello", folder.path())), "Hello, world!\n");
    }
}

#[test]
fn hello_has_at_most_15_lines_of_user_code() {
    let lines = code_lines(include_str!("../../examples/hello.rs"));
    assert!(lines <= 15, "{lines} lines");
}

#[test]
fn the_order_flow_has_at_most_71_lines_of_code() {
    let lines = code_lines(include_str!("../../examples/order.rs"));
    assert!(lines <= 71, "{lines} lines");
}

/// Lines that are neither blank, nor a comment, nor an allowance for the repository's own lints.
fn code_lines(source: &str) -> usize {
    let lines = source.lines().map(str::trim_start);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("#![expect")).count()
}

#[test]
fn the_readme_shows_the_order_flow_as_it_is_with_some_lines_left_out() {
    let readme = include_str!("../../README.md");
    let (_, from_snippet) = readme.split_once("```rust\n").unwrap();
    let (snippet, _) = from_snippet.split_once("```").unwrap();
    let mut source = include_str!("../../examples/order.rs").lines();
    for line in snippet.lines() {
        assert!(source.any(|code| code == line), "not in examples/order.rs, or not in this order: {line}");
    }
}

#[test]
fn the_readme_names_every_example() {
    let readme = include_str!("../../README.md");
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap();
    let files = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let examples: Vec<_> = files.filter_map(|file| file.strip_suffix(".rs").map(str::to_owned)).collect();
    assert!(examples.len() >= 10, "the examples were not found");
    for name in examples {
        let named =
            readme.contains(&format!("{name}.rs`")) || readme.contains(&format!("--example {name}\n"));
        assert!(named, "README.md does not name examples/{name}.rs");
    }
}

#[test]
fn one_order_is_charged_and_shipped() {
    let folder = tempfile::tempdir().unwrap();
    let stdout = run_well(&mut example("order", folder.path()));
    let (status, rest) = stdout.split_once('\n').unwrap();
    // The status is asked for while the order is on its way.
    assert!(["None", "Some(Charged)", "Some(Shipped)"].contains(&status), "{status}");
    assert_eq!(rest, "shipped 17\n");

    let ledger = Ledger::open(&folder.path().join("dex-data/ledger.jsonl")).unwrap();
    let mut deeds: Vec<_> = ledger.entries().map(|e| (e.deed.to_string(), &*e.order, e.cents)).collect();
    deeds.sort();
    assert_eq!(deeds, [(Deed::Charge.to_string(), "17", 4200), (Deed::Shipment.to_string(), "17", 4200)]);
}

#[test]
fn one_order_is_not_started_twice() {
    let folder = tempfile::tempdir().unwrap();
    run_well(&mut example("order", folder.path()));
    let again = run(&mut example("order", folder.path()));
    assert!(!again.success, "{again:?}");
    assert!(again.stderr.contains("order-17"), "{}", again.stderr);
}

#[test]
fn a_process_that_dies_in_a_step_is_followed_by_one_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let stdout = run_well(&mut example("crash_and_resume", folder.path()));
    let expected = "\
life 1: shoot
life 1: develop
life 1: the process dies
life 1 has ended badly
life 2: develop
life 2: bind
life 2: an album of 24 pictures
life 2 has ended well
";
    assert_eq!(stdout, expected);
}

#[test]
fn a_basket_waits_for_its_orders_and_goes_on_without_those_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    let stdout = run_well(&mut example("parent_child", folder.path()));
    let expected = "\
to pay: 22
missing: [\"it failed: there is no moon\"]
the book alone: 20
";
    assert_eq!(stdout, expected);
}

#[test]
fn a_reader_goes_on_where_it_was_and_so_does_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    let expected = "\
1: A durable run goes on where it was.
the reader breaks off
2: Its stream keeps what was said.
3: Ask again.
   said in another attempt
3 sentences
";
    for _ in 0..2 {
        assert_eq!(run_well(&mut example("agent_stream", folder.path())), expected);
    }
}
