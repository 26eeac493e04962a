//! What was done to steered runs, as far as callers were told.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use dex::{ErrorKind, Result, RunId};

/// A call on its way.
pub(super) type Call<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

/// A certain answer.
#[derive(Debug)]
pub(super) enum Told<T> {
    Done(T),
    /// It did not happen.
    Refused,
}

impl<T> Told<T> {
    /// What an answer says for certain, if it does.
    pub(super) fn of(answer: Result<T>) -> Option<Self> {
        let error = match answer {
            Ok(value) => return Some(Self::Done(value)),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::OutcomeUnknown | ErrorKind::Unavailable => None,
            ErrorKind::Closed | ErrorKind::Canceling | ErrorKind::AlreadyStarted | ErrorKind::NotFound => {
                Some(Self::Refused)
            }
            _ => panic!("nothing explains this answer: {error:?}"),
        }
    }

    fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// Something that a hand does to a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    Publish,
    Add,
    Mend,
    Pause,
    Resume,
    Cancel,
    Terminate,
    SkipTimer,
    Retry,
    Skip,
    Redirect,
}

/// What was done to each run.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) runs: BTreeMap<RunId, Account>,
    /// Runs that were allowed to end another one of the same id.
    replacements: Vec<(usize, RunId)>,
    requests: u64,
    numbers: u64,
}

/// What was done to a run.
#[derive(Debug, Default)]
pub(super) struct Account {
    id: usize,
    pub(super) published: Vec<u64>,
    pub(super) redirected: Vec<u64>,
    pub(super) added: u64,
    pub(super) skipped: u64,
    pub(super) cancelled: bool,
    pub(super) terminated: bool,
}

impl Ledger {
    pub(super) fn next_request(&mut self) -> String {
        self.requests += 1;
        format!("request-{}", self.requests)
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(super) fn started(&mut self, id: usize, run: RunId, replaces: bool) {
        self.runs.entry(run).or_default().id = id;
        if replaces {
            self.replacements.push((id, run));
        }
    }

    /// Whether a start under its id may have ended a run.
    pub(super) fn was_replaced(&self, run: RunId) -> bool {
        let id = self.runs[&run].id;
        self.replacements.iter().any(|(of, other)| *of == id && *other != run)
    }

    /// Notes what a deed about `number` led to.
    pub(super) fn note(&mut self, run: RunId, deed: Deed, number: u64, told: &Told<()>) {
        let account = self.runs.entry(run).or_default();
        if !told.is_done() {
            return;
        }
        match deed {
            Deed::Publish => account.published.push(number),
            Deed::Redirect => account.redirected.push(number),
            Deed::Add => account.added += 1,
            Deed::Skip => account.skipped += 1,
            Deed::Cancel => account.cancelled = true,
            Deed::Terminate => account.terminated = true,
            Deed::Mend | Deed::Pause | Deed::Resume | Deed::SkipTimer | Deed::Retry => {}
        }
    }
}
