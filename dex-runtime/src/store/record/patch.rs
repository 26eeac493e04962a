//! What movements change about their steps' options: a list of the fields that are set, each with its tag.

use std::sync::Arc;
use std::time::Duration;

use super::bytes::{ReadError, Reader, Writer};
use super::tag::{durability, exhausted, patch as tag};
use crate::engine::{Durability, Factor, OnExhausted, PatchedEnd, StepPatch};

impl Writer {
    pub(super) fn patch(&mut self, patch: &StepPatch) {
        let StepPatch { initial, factor, max_interval, attempts, total, timeout, heartbeat, .. } = patch;
        let times = [
            (tag::INITIAL, initial),
            (tag::MAX_INTERVAL, max_interval),
            (tag::TOTAL, total),
            (tag::TIMEOUT, timeout),
            (tag::HEARTBEAT, heartbeat),
        ];
        let times = times.into_iter().filter_map(|(tag, time)| Some((tag, (*time)?)));
        let numbers = times
            .map(|(tag, time)| (tag, u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
            .chain(factor.map(|factor| (tag::FACTOR, factor.get().to_bits())))
            .chain(attempts.map(|attempts| (tag::ATTEMPTS, attempts.into())))
            .collect::<Vec<_>>();
        let StepPatch { exhausted, durability, .. } = patch;
        self.count(numbers.len() + usize::from(exhausted.is_some()) + usize::from(durability.is_some()));
        for (tag, number) in numbers {
            self.byte(tag);
            self.number(number);
        }
        if let Some(end) = exhausted {
            self.byte(tag::EXHAUSTED);
            self.patched_end(end);
        }
        if let Some(durability) = durability {
            self.byte(tag::DURABILITY);
            self.byte(match durability {
                Durability::Sync => durability::SYNC,
                Durability::Async => durability::ASYNC,
            });
        }
    }

    fn patched_end(&mut self, end: &PatchedEnd) {
        match end {
            PatchedEnd::Of(OnExhausted::Fail) => self.byte(exhausted::FAIL),
            PatchedEnd::Of(OnExhausted::Park) => self.byte(exhausted::PARK),
            PatchedEnd::Of(OnExhausted::Proceed) => self.byte(exhausted::PROCEED),
            PatchedEnd::Recover(step) => {
                self.byte(exhausted::RECOVER);
                self.name(step);
            }
        }
    }
}

impl Reader<'_> {
    pub(super) fn patch(&mut self) -> Result<Arc<StepPatch>, ReadError> {
        let mut patch = StepPatch::default();
        for _ in 0..self.number()? {
            self.patched_field(&mut patch)?;
        }
        Ok(Arc::new(patch))
    }

    fn patched_field(&mut self, patch: &mut StepPatch) -> Result<(), ReadError> {
        match self.byte()? {
            tag::INITIAL => patch.initial = Some(self.micros()?),
            tag::FACTOR => {
                let factor = Factor::new(f64::from_bits(self.number()?));
                patch.factor = Some(factor.ok_or_else(|| self.error("a factor is out of range"))?);
            }
            tag::MAX_INTERVAL => patch.max_interval = Some(self.micros()?),
            tag::ATTEMPTS => patch.attempts = Some(self.small_number()?),
            tag::TOTAL => patch.total = Some(self.micros()?),
            tag::TIMEOUT => patch.timeout = Some(self.micros()?),
            tag::HEARTBEAT => patch.heartbeat = Some(self.micros()?),
            tag::EXHAUSTED => patch.exhausted = Some(self.patched_end()?),
            tag::DURABILITY => {
                patch.durability = Some(match self.byte()? {
                    durability::SYNC => Durability::Sync,
                    durability::ASYNC => Durability::Async,
                    other => return Err(self.unknown_tag("durability", other)),
                });
            }
            other => return Err(self.unknown_tag("step option", other)),
        }
        Ok(())
    }

    fn micros(&mut self) -> Result<Duration, ReadError> {
        self.number().map(Duration::from_micros)
    }

    fn patched_end(&mut self) -> Result<PatchedEnd, ReadError> {
        Ok(match self.byte()? {
            exhausted::FAIL => PatchedEnd::Of(OnExhausted::Fail),
            exhausted::PARK => PatchedEnd::Of(OnExhausted::Park),
            exhausted::PROCEED => PatchedEnd::Of(OnExhausted::Proceed),
            exhausted::RECOVER => PatchedEnd::Recover(self.name()?),
            other => return Err(self.unknown_tag("end of the retries", other)),
        })
    }
}
