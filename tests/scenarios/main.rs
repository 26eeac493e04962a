//! What the reference system's own tests show of it, as black-box tests of dex.
//!
//! `docs/scenarios.md` maps every row of that list to its test, here or elsewhere, or says why it has none. A
//! module holds one section of the list; a test is named by the behaviour, and its comment has the row's number.
//! Where dex decides differently, one line at the test says so.
#![cfg(test)]

mod attempts;
mod basic;
mod channels;
mod children;
mod contracts;
mod maps;
mod on_call;
mod page;
mod persistence;
mod residency;
mod rpc;
mod step_options;
mod stopping;
mod streams;
#[path = "../support/mod.rs"]
mod support;
