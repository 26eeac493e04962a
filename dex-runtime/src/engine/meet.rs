//! Whether a condition can be met with what is there, and how.

use super::wait::{Condition, Matched};
use crate::ids::Slot;
use crate::time::Timestamp;

/// Combinations of alternatives that are tried for groups that compete for the same messages.
///
/// Their number grows like a power, and the run's thread must not stand still for one wait. After so many,
/// what fits without trying is taken, or the wait goes on until the next message.
const COMBINATIONS_MAX: usize = 1_000;

impl Condition {
    /// How the condition is met with these messages, with the children that have ended, and timers up to
    /// `fired_until`; `None` if it is not.
    ///
    /// Of several ways it is the one whose alternatives were written first.
    pub fn meet(
        &self,
        available: impl Fn(&Slot) -> usize,
        ended: impl Fn(u32) -> bool,
        fired_until: Timestamp,
    ) -> Option<Matched> {
        let mut ledger = Ledger {
            available,
            ended,
            fired_until,
            left: Vec::new(),
            contended: false,
            choices: Choices::FirstFit,
        };
        let mut matched = ledger.reserve(self);
        if ledger.contended {
            // The first fit may have passed by a way that was written before it, or all ways.
            let left = std::mem::take(&mut ledger.left);
            match ledger.search(self) {
                Some(first) => matched = Some(first),
                None => ledger.left = left,
            }
        }
        let mut matched = matched?;
        ledger.top_up(self, &mut matched);
        Some(matched)
    }
}

/// How an alternative is chosen.
enum Choices {
    /// The first that fits what the parts before it left.
    FirstFit,
    /// The ones on the list, in the order in which the alternatives are come to; further ones begin at 0.
    Fixed {
        /// Place and number of alternatives of each choice.
        list: Vec<(usize, usize)>,
        /// How many of them are used up.
        used: usize,
    },
}

/// What is left of each channel while a condition is being met.
struct Ledger<'a, F, E> {
    available: F,
    ended: E,
    fired_until: Timestamp,
    /// A list, since a condition names a handful of channels.
    left: Vec<(&'a Slot, usize)>,
    /// Whether a part failed only for messages that an earlier part had reserved.
    contended: bool,
    choices: Choices,
}

impl<'a, F: Fn(&Slot) -> usize, E: Fn(u32) -> bool> Ledger<'a, F, E> {
    fn left(&mut self, slot: &'a Slot) -> &mut usize {
        let known = self.left.iter().position(|(known, _)| *known == slot);
        let at = known.unwrap_or_else(|| {
            self.left.push((slot, (self.available)(slot)));
            self.left.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found or pushed just above")]
        &mut self.left[at].1
    }

    fn reserve(&mut self, condition: &'a Condition) -> Option<Matched> {
        match condition {
            Condition::Messages { slot, min, .. } => self.reserve_messages(slot, *min),
            Condition::Timer { at } => (*at <= self.fired_until).then_some(Matched::Plain),
            Condition::Child { index } => (self.ended)(*index).then_some(Matched::Plain),
            Condition::Ready(_) => Some(Matched::Plain),
            Condition::Any { of, .. } => self.choose(of),
            Condition::All(parts) => {
                let matched: Option<Vec<_>> = parts.iter().map(|part| self.reserve(part)).collect();
                Some(Matched::All(matched?))
            }
            Condition::With(inner, _) => Some(Matched::With(Box::new(self.reserve(inner)?))),
        }
    }

    fn reserve_messages(&mut self, slot: &'a Slot, min: u32) -> Option<Matched> {
        let left = self.left(slot);
        if let Some(rest) = left.checked_sub(min as usize) {
            *left = rest;
            return Some(Matched::Messages(min));
        }
        self.contended |= (self.available)(slot) >= min as usize;
        None
    }

    fn choose(&mut self, of: &'a [Condition]) -> Option<Matched> {
        let index = match &mut self.choices {
            Choices::FirstFit => return self.first_fit(of),
            Choices::Fixed { list, used } => {
                if *used == list.len() {
                    list.push((0, of.len()));
                }
                *used += 1;
                list.get(*used - 1)?.0
            }
        };
        let matched = self.reserve(of.get(index)?)?;
        Some(Matched::Any(u32::try_from(index).ok()?, Box::new(matched)))
    }

    fn first_fit(&mut self, of: &'a [Condition]) -> Option<Matched> {
        of.iter().zip(0..).find_map(|(part, index)| {
            // An alternative that fails half way must not keep what it reserved.
            let before = self.left.clone();
            let matched = self.reserve(part);
            if matched.is_none() {
                self.left = before;
            }
            Some(Matched::Any(index, Box::new(matched?)))
        })
    }

    /// Tries the combinations of alternatives, those written first before the others.
    fn search(&mut self, condition: &'a Condition) -> Option<Matched> {
        self.choices = Choices::Fixed { list: Vec::new(), used: 0 };
        for _ in 0..COMBINATIONS_MAX {
            self.left.clear();
            if let Some(matched) = self.reserve(condition) {
                return Some(matched);
            }
            self.choices.advance()?;
        }
        None
    }

    fn top_up(&mut self, condition: &'a Condition, matched: &mut Matched) {
        match (condition, matched) {
            (Condition::Messages { slot, max, .. }, Matched::Messages(count)) => {
                let left = self.left(slot);
                let more = max.saturating_sub(*count).min(u32::try_from(*left).unwrap_or(u32::MAX));
                *left -= more as usize;
                *count += more;
            }
            (Condition::Any { of, .. }, Matched::Any(index, inner)) => {
                if let Some(part) = of.get(*index as usize) {
                    self.top_up(part, inner);
                }
            }
            (Condition::All(parts), Matched::All(all)) => {
                for (part, inner) in parts.iter().zip(all) {
                    self.top_up(part, inner);
                }
            }
            (Condition::With(inner, _), Matched::With(matched)) => self.top_up(inner, matched),
            _ => {}
        }
    }
}

impl Choices {
    /// Goes on to the next combination; `None` after the last one.
    fn advance(&mut self) -> Option<()> {
        let Self::Fixed { list, used } = self else { return None };
        *used = 0;
        while let Some((place, count)) = list.last_mut() {
            *place += 1;
            if *place < *count {
                return Some(());
            }
            list.pop();
        }
        None
    }
}
