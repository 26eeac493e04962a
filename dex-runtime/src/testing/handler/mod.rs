//! Handlers as plain methods: a context to call one with, what it staged, and what it decided.
//!
//! A handler's body is not rewritten by the macros, so a unit test calls it like any method, without an
//! engine: it makes a context, calls, and looks. Everything here panics when a test asks for what cannot be,
//! as an assertion would.

mod child;
mod context;
mod decision;
mod staged;
mod streams;

pub use self::context::{ContextBuilder, TestContext};
pub use self::staged::Change;
