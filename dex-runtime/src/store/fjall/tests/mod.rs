//! The suite, and the hazards of a store on disk that need a look inside.

use tempfile::TempDir;

use super::*;
use crate::store::conformance::{self, Subject};

struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Subject for Disk {
    fn open(&mut self) -> Box<dyn Store> {
        Box::new(FjallStore::open(self.0.path(), FjallOptions::default()).unwrap())
    }
}

#[test]
fn it_does_what_every_store_must() {
    conformance::run(|| Box::new(Disk::new()));
}

#[test]
fn random_commits_are_kept_as_a_list_of_them_would() {
    // Each case opens a folder several times, which costs tens of milliseconds.
    conformance::check_against_model(24, || Box::new(Disk::new()));
}
