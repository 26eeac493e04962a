//! When mistakes are found: the page that says so, and those that no compiler can find.
#![cfg(test)]

mod late;
mod page;
#[path = "../support/mod.rs"]
mod support;
