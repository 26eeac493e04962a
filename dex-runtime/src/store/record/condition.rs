//! Conditions and how they were met: the two trees that records hold.

use super::bytes::{ReadError, Reader, Writer};
use super::tag;
use crate::engine::{Condition, Matched};
use crate::time::Timestamp;

/// Deepest nesting of conditions that is read back.
///
/// Reading goes down the tree by recursion, and bytes that promise a million levels must not take the
/// stack. No one writes a wait that is a hundred levels deep; who makes conditions refuses such a one.
pub const CONDITION_DEPTH_MAX: usize = 100;

impl Writer {
    pub(super) fn condition(&mut self, base: Timestamp, condition: &Condition) {
        match condition {
            Condition::Messages { slot, min, max, single } => {
                self.byte(tag::condition::MESSAGES);
                self.slot(slot);
                self.number((*min).into());
                self.number((*max).into());
                self.flag(*single);
            }
            Condition::Timer { at } => {
                self.byte(tag::condition::TIMER);
                self.time(base, *at);
            }
            Condition::Child { index } => {
                self.byte(tag::condition::CHILD);
                self.number((*index).into());
            }
            Condition::Ready(value) => {
                self.byte(tag::condition::READY);
                self.payload(value);
            }
            Condition::Any { of, tagged } => {
                self.byte(tag::condition::ANY);
                self.flag(*tagged);
                self.list(of, |out, part| out.condition(base, part));
            }
            Condition::All(parts) => {
                self.byte(tag::condition::ALL);
                self.list(parts, |out, part| out.condition(base, part));
            }
            Condition::With(inner, value) => {
                self.byte(tag::condition::WITH);
                self.payload(value);
                self.condition(base, inner);
            }
        }
    }

    pub(super) fn matched(&mut self, matched: &Matched) {
        match matched {
            Matched::Messages(count) => {
                self.byte(tag::matched::MESSAGES);
                self.number((*count).into());
            }
            Matched::Plain => self.byte(tag::matched::PLAIN),
            Matched::Any(index, inner) => {
                self.byte(tag::matched::ANY);
                self.number((*index).into());
                self.matched(inner);
            }
            Matched::All(parts) => {
                self.byte(tag::matched::ALL);
                self.list(parts, Self::matched);
            }
            Matched::With(inner) => {
                self.byte(tag::matched::WITH);
                self.matched(inner);
            }
        }
    }
}

impl Reader<'_> {
    pub(super) fn condition(&mut self, base: Timestamp) -> Result<Condition, ReadError> {
        self.condition_below(base, CONDITION_DEPTH_MAX)
    }

    fn condition_below(&mut self, base: Timestamp, levels: usize) -> Result<Condition, ReadError> {
        let below = self.one_level_less(levels)?;
        Ok(match self.byte()? {
            tag::condition::MESSAGES => Condition::Messages {
                slot: self.slot()?,
                min: self.small_number()?,
                max: self.small_number()?,
                single: self.flag()?,
            },
            tag::condition::TIMER => Condition::Timer { at: self.time(base)? },
            tag::condition::CHILD => Condition::Child { index: self.small_number()? },
            tag::condition::READY => Condition::Ready(self.payload()?),
            tag::condition::ANY => Condition::Any {
                tagged: self.flag()?,
                of: self.list(|input| input.condition_below(base, below))?,
            },
            tag::condition::ALL => Condition::All(self.list(|input| input.condition_below(base, below))?),
            tag::condition::WITH => {
                let value = self.payload()?;
                Condition::With(Box::new(self.condition_below(base, below)?), value)
            }
            other => return Err(self.unknown_tag("condition", other)),
        })
    }

    pub(super) fn matched(&mut self) -> Result<Matched, ReadError> {
        self.matched_below(CONDITION_DEPTH_MAX)
    }

    fn matched_below(&mut self, levels: usize) -> Result<Matched, ReadError> {
        let below = self.one_level_less(levels)?;
        Ok(match self.byte()? {
            tag::matched::MESSAGES => Matched::Messages(self.small_number()?),
            tag::matched::PLAIN => Matched::Plain,
            tag::matched::ANY => Matched::Any(self.small_number()?, Box::new(self.matched_below(below)?)),
            tag::matched::ALL => Matched::All(self.list(|input| input.matched_below(below))?),
            tag::matched::WITH => Matched::With(Box::new(self.matched_below(below)?)),
            other => return Err(self.unknown_tag("match", other)),
        })
    }

    fn one_level_less(&self, levels: usize) -> Result<usize, ReadError> {
        levels.checked_sub(1).ok_or_else(|| {
            self.error(format!("conditions are nested deeper than {CONDITION_DEPTH_MAX} levels"))
        })
    }
}
