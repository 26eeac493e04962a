//! What handlers see of their run and of themselves, and what they can do to it beside writing and sending.
//!
//! `docs/context.md` says for each method of the reference system's context what serves it here; `page` checks it.
#![cfg(test)]

mod about;
mod deleting;
mod notes;
mod page;
#[path = "../support/mod.rs"]
mod support;
