//! What broke for people who run durable workflows elsewhere, one test for each kind of fault.
//!
//! `docs/field-cases.md` maps every report to its test, here or elsewhere. A module holds one theme of that
//! page; a test is named by the behaviour that is right.
#![cfg(test)]

mod a;
mod c;
mod clock;
mod d;
mod e;
mod f;
mod g;
mod h;
mod i;
mod k;
mod l;
mod m;
mod page;
mod r;
mod s;
#[path = "../support/mod.rs"]
mod support;
mod u;
