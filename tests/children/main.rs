//! Sub-flows: what a parent is given, and what runs do to one another, whatever crashes between.
#![cfg(test)]

#[path = "../support/mod.rs"]
mod support;

mod ends;
mod faults;
mod flows;
mod many;
mod parents;
mod results;
