//! What all contexts share: the run as the handler sees it, and what it has staged.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::engine::{Staged, View};
use crate::ids::Slot;
use crate::value::{Payload, Value, ValueError};

/// What a transaction read: each attribute with the version it saw, `None` if it was not set.
pub(crate) type Reads = BTreeMap<Slot, Option<u64>>;

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) view: View,
    pub(crate) staged: Staged,
    /// Behind a lock since reading takes `&self`: a query context is shared, and a handler may read from
    /// two branches of a join.
    reads: Mutex<Reads>,
}

impl Core {
    pub(crate) fn new(view: View) -> Self {
        Self { view, staged: Staged::default(), reads: Mutex::default() }
    }

    pub(crate) fn get<T: Value>(&self, slot: &Slot) -> Result<Option<T>, ValueError> {
        // The handler's own writes come first; of several the last one counts.
        if let Some((_, staged)) = self.staged.attributes.iter().rev().find(|(written, _)| written == slot) {
            return staged.as_ref().map(Payload::decode).transpose();
        }
        let stored = self.view.attributes.get(slot);
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.insert(slot.clone(), stored.map(|attribute| attribute.version));
        drop(reads);
        stored.map(|attribute| attribute.value.decode()).transpose()
    }

    pub(crate) fn set<T: Value>(&mut self, slot: Slot, value: &T) -> Result<(), ValueError> {
        let value = Payload::encode(value)?;
        self.staged.attributes.push((slot, Some(value)));
        Ok(())
    }

    pub(crate) fn delete(&mut self, slot: Slot) {
        self.staged.attributes.push((slot, None));
    }

    pub(crate) fn publish<T: Value>(&mut self, slot: Slot, message: &T) -> Result<(), ValueError> {
        self.staged.messages.push((slot, Payload::encode(message)?));
        Ok(())
    }

    /// What was staged, and what was read.
    pub(crate) fn into_parts(self) -> (Staged, Reads) {
        (self.staged, self.reads.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
