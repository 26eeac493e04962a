//! What the engine itself may do to a run later: end it, or start a step of its own.

use std::time::Duration;

use super::bytes::{ReadError, Reader, Writer};
use super::tag::timeout as tag;
use crate::engine::{CancelPlan, RunTimeout, StepTarget, TimeoutAction};
use crate::ids::Slot;
use crate::time::Timestamp;

impl Writer {
    pub(super) fn slots(&mut self, slots: &[Slot]) {
        self.list(slots, Self::slot);
    }

    pub(super) fn target(&mut self, target: &StepTarget) {
        self.name(&target.step);
        self.flag(target.waits);
        self.slots(&target.locks);
    }

    pub(super) fn run_timeout(&mut self, base: Timestamp, timeout: &RunTimeout) {
        self.time(base, timeout.at);
        match &timeout.then {
            TimeoutAction::Fail => self.byte(tag::FAIL),
            TimeoutAction::Cancel(plan) => {
                self.byte(tag::CANCEL);
                self.number(u64::try_from(plan.grace.as_micros()).unwrap_or(u64::MAX));
                self.option(plan.cleanup.as_ref(), Self::target);
            }
            TimeoutAction::Step(target) => {
                self.byte(tag::STEP);
                self.target(target);
            }
        }
    }
}

impl Reader<'_> {
    pub(super) fn slots(&mut self) -> Result<Vec<Slot>, ReadError> {
        self.list(Self::slot)
    }

    pub(super) fn target(&mut self) -> Result<StepTarget, ReadError> {
        Ok(StepTarget { step: self.name()?, waits: self.flag()?, locks: self.slots()? })
    }

    pub(super) fn run_timeout(&mut self, base: Timestamp) -> Result<RunTimeout, ReadError> {
        let at = self.time(base)?;
        let then = match self.byte()? {
            tag::FAIL => TimeoutAction::Fail,
            tag::CANCEL => TimeoutAction::Cancel(CancelPlan {
                grace: Duration::from_micros(self.number()?),
                cleanup: self.option(Self::target)?,
            }),
            tag::STEP => TimeoutAction::Step(self.target()?),
            other => return Err(self.unknown_tag("timeout", other)),
        };
        Ok(RunTimeout { at, then })
    }
}
