//! What every store must do, as one suite that each store's tests run.
//!
//! A case gets data that can be opened again and again, and looks at it through [`Store`] only. Records are
//! bytes without a meaning here, as they are to a store.

mod build;
mod commits;
mod history;
#[cfg(test)]
mod model;
mod reopen;
mod rows;
mod streams;
mod timers;

use super::Store;

#[cfg(test)]
pub(crate) use self::model::check_against_model;

/// Data of a store, empty at first.
pub trait Subject {
    /// Opens the data: the first time, or again after the last opening was dropped or closed.
    fn open(&mut self) -> Box<dyn Store>;
}

type Case = (&'static str, fn(&mut dyn Subject));

/// Runs every case, each with fresh data from `make`.
///
/// # Panics
///
/// If the store does not do what it must; the last name printed says in which case.
pub fn run(make: impl Fn() -> Box<dyn Subject>) {
    let topics = [commits::CASES, rows::CASES, timers::CASES, history::CASES, streams::CASES, reopen::CASES];
    for (name, case) in topics.into_iter().flatten() {
        #[expect(clippy::print_stdout, reason = "shown by a test that fails")]
        {
            println!("conformance: {name}");
        }
        case(&mut *make());
    }
}
