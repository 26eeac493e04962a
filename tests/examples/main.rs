//! Every example does what its page says.
// The helpers are tests too, for the lints that spare tests.
#![cfg(test)]

#[path = "../../examples/orders/arguments.rs"]
mod arguments;
#[path = "../../examples/orders/intake.rs"]
mod intake;
mod programs;
#[path = "../../examples/shop/mod.rs"]
mod shop;

mod lessons;
mod orders;
mod orders_input;
mod shop_ledger;
mod small;

/// The examples that the tests below run.
const TESTED: [&str; 10] = [
    "agent_stream",
    "approval",
    "crash_and_resume",
    "fan_out",
    "hello",
    "order",
    "orders",
    "parent_child",
    "subscription",
    "transfer",
];

#[test]
fn every_example_has_a_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, TESTED);
}
