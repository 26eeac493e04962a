//! `orders`: the whole path on real input.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::arguments::USAGE;
use crate::programs::{Said, example, run, run_well};
use crate::shop::{Deed, Ledger};

const SUMMARY: &str = "    14  card refused
    11  refunded: could not be shipped
    21  refunded: declined by the seller
     8  refunded: no answer from the seller
   146  shipped
   200  in all
";

#[test]
fn two_hundred_orders_end_as_their_page_says_and_are_only_counted_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    // Twice the usual patience, so that the late sellers are in time on a busy machine as well.
    let mut program = example("orders", folder.path());
    program.args(["--data", "data", "--patience", "1200"]);
    assert_eq!(run_well(&mut program), SUMMARY);
    let ledger = || std::fs::read_to_string(folder.path().join("data/ledger.jsonl")).unwrap();
    let written = ledger();
    assert_eq!(run_well(&mut program), SUMMARY);
    assert_eq!(ledger(), written, "an order that has ended does nothing more");

    let ledger = Ledger::open(&folder.path().join("data/ledger.jsonl")).unwrap();
    let mut deeds = HashMap::new();
    for entry in ledger.entries() {
        *deeds.entry(entry.deed).or_insert(0) += 1;
    }
    let expected = HashMap::from([(Deed::Charge, 186), (Deed::Shipment, 146), (Deed::Refund, 40)]);
    assert_eq!(deeds, expected);
}

#[test]
fn bad_lines_are_named_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let input = r#"{"id": "good-1", "email": "a@example.com", "cents": 100, "items": ["tea"]}
this is not an order
{"id": "", "email": "a@example.com", "cents": 100, "items": ["tea"]}
{"id": "good-1", "email": "a@example.com", "cents": 100, "items": ["tea"]}
{"id": "tab\there", "email": "a@example.com", "cents": 100, "items": ["tea"]}
{"id": "cheap", "email": "a@example.com", "cents": -1, "items": ["tea"]}
{"id": "good-2", "email": "a@example.com", "cents": 100, "items": ["tea"], "card": "refused"}
"#;
    let said = run_with_input(example("orders", folder.path()).arg("-"), input);
    assert!(said.success, "{said:?}");
    let expected = "\
line 2: not an order: expected ident (column 2)
line 3: `id` cannot be used: flow id is empty: give it at least one character
line 4: `id` \"good-1\" was given in line 1 already
line 5: `id` cannot be used: flow id contains the control character U+0009 at byte 3: use printable text
line 6: not an order: invalid value: integer `-1`, expected u64 (column 53)
     1  card refused
     1  shipped
     2  in all
     5  lines left out
";
    assert_eq!(said.stdout, expected);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(example("orders", folder.path()).arg("nowhere.jsonl"));
    assert!(!said.success, "{said:?}");
    assert!(said.stderr.contains("nowhere.jsonl"), "{}", said.stderr);
}

#[test]
fn an_unknown_option_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(example("orders", folder.path()).arg("--patient"));
    assert!(!said.success, "{said:?}");
    assert_eq!(said.stderr, format!("orders: unknown option --patient\n{USAGE}\n"));
}

#[test]
fn a_second_process_on_the_same_folder_is_refused_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let input = r#"{"id": "waits", "email": "a@example.com", "cents": 1, "items": ["tea"], "seller": "never_answers"}"#;
    std::fs::write(folder.path().join("one.jsonl"), input).unwrap();
    let mut program = example("orders", folder.path());
    program.args(["--patience", "500", "one.jsonl"]);
    let mut first = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It shows its progress once the store is open.
    let mut progress = String::new();
    BufReader::new(first.stderr.as_mut().unwrap()).read_line(&mut progress).unwrap();
    assert_eq!(progress, "0 of 1 orders have ended\n");

    let second = run(example("orders", folder.path()).arg("one.jsonl"));
    assert!(!second.success, "{second:?}");
    assert!(second.stderr.contains("dex-data/orders/store"), "{}", second.stderr);

    let said = Said::from(first.wait_with_output().unwrap());
    assert_eq!(said.stdout, "     1  refunded: no answer from the seller\n     1  in all\n");
}

fn run_with_input(command: &mut Command, input: &str) -> Said {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}
