//! The suite, and what only this store can do.

use super::*;
use crate::store::conformance::{self, Subject};

#[derive(Default)]
struct Memory(Option<MemoryStore>);

impl Subject for Memory {
    fn open(&mut self) -> Box<dyn Store> {
        let disk = self.0.get_or_insert_default();
        Box::new(disk.reopen())
    }
}

#[test]
fn it_does_what_every_store_must() {
    conformance::run(|| Box::new(Memory::default()));
}
