//! What several records have in common: names, places, values, times.

use super::bytes::{ReadError, Reader, Writer};
use super::tag;
use crate::engine::RunIdentity;
use crate::ids::{ExecutionNo, FlowId, IdError, MapKey, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

impl Writer {
    pub(super) fn name(&mut self, name: &Name) {
        self.text(name.as_str());
    }

    pub(super) fn slot(&mut self, slot: &Slot) {
        self.name(&slot.name);
        self.option(slot.key.as_ref(), |out, key| out.text(key.as_str()));
    }

    pub(super) fn execution(&mut self, execution: ExecutionNo) {
        self.number(execution.0);
    }

    pub(super) fn payload(&mut self, value: &Payload) {
        self.byte(tag::content::JSON);
        self.bytes(value.as_bytes());
    }

    /// A time as its distance from `base`, which is short for times near it.
    pub(super) fn time(&mut self, base: Timestamp, at: Timestamp) {
        self.signed(at.as_micros() - base.as_micros());
    }

    pub(super) fn identity(&mut self, base: Timestamp, identity: &RunIdentity) {
        self.name(&identity.flow);
        self.text(identity.flow_id.as_str());
        self.fixed(identity.run_id.as_bytes());
        self.time(base, identity.started_at);
    }
}

impl<'a> Reader<'a> {
    fn id<T>(&mut self, make: impl FnOnce(&'a str) -> Result<T, IdError>) -> Result<T, ReadError> {
        let text = self.text()?;
        make(text).map_err(|error| self.error(error.to_string()))
    }

    pub(super) fn name(&mut self) -> Result<Name, ReadError> {
        self.id(Name::new)
    }

    pub(super) fn flow_id(&mut self) -> Result<FlowId, ReadError> {
        self.id(FlowId::new)
    }

    pub(super) fn slot(&mut self) -> Result<Slot, ReadError> {
        let written = self.name()?;
        let name = self.renamed.get(&written).cloned().unwrap_or(written);
        Ok(Slot { name, key: self.option(|input| input.id(MapKey::new))? })
    }

    pub(super) fn execution(&mut self) -> Result<ExecutionNo, ReadError> {
        self.number().map(ExecutionNo)
    }

    pub(super) fn payload(&mut self) -> Result<Payload, ReadError> {
        match self.byte()? {
            // A copy, so that one small value does not keep a whole record in memory.
            tag::content::JSON => Ok(Payload::from_stored(self.bytes()?)),
            other => Err(self.unknown_tag("value content", other)),
        }
    }

    pub(super) fn time(&mut self, base: Timestamp) -> Result<Timestamp, ReadError> {
        let distance = self.signed()?;
        base.as_micros()
            .checked_add(distance)
            .map(Timestamp::from_micros)
            // The constructor clamps; a time that it changed was never written.
            .filter(|at| at.as_micros() - base.as_micros() == distance)
            .ok_or_else(|| self.error("a time is out of range"))
    }

    pub(super) fn run(&mut self) -> Result<RunId, ReadError> {
        self.fixed().map(RunId::from_bytes)
    }

    pub(super) fn identity(&mut self, base: Timestamp) -> Result<RunIdentity, ReadError> {
        Ok(RunIdentity {
            flow: self.name()?,
            flow_id: self.flow_id()?,
            run_id: self.run()?,
            started_at: self.time(base)?,
            // Beside it, for those that have one.
            parent: None,
        })
    }
}
