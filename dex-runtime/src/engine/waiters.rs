//! Who waits for a channel, and what has to be there before it is of use to look at them.
//!
//! A message must not cost as much as there are waits that it is not enough for. So each wait is registered with
//! its [`Need`], which follows from its condition alone and is the same for most waits of a run; the waits with one
//! need are passed by all at once as long as it is not there.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::shared::SharedMap;
use super::wait::Condition;
use crate::ids::{ExecutionNo, Slot};

/// Channels of a need that are looked at, besides the one it is registered for. A wait for more of them is looked at
/// once these have what it needs; looking is exact, and waits that differ only beyond count as alike.
const OTHERS_MAX: usize = 8;

/// What must be there at least, or messages of a channel do not help a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// Messages of the channel that the fewest take who take any.
    least: u32,
    /// What is needed whichever way the wait is met, by channel. `None` if the condition names no other channel.
    always: Option<Arc<[(Slot, u32)]>>,
}

impl Need {
    /// Whether all of it is there, for a wait that is registered at `slot`.
    pub(super) fn is_there(&self, slot: &Slot, available: impl Fn(&Slot) -> usize) -> bool {
        let enough = |slot: &Slot, count: u32| available(slot) >= count as usize;
        enough(slot, self.least)
            && self.always.iter().flat_map(|all| &**all).all(|(slot, n)| enough(slot, *n))
    }
}

/// The executions whose condition names a channel. Shared with views, as all of the channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiters(SharedMap<(Need, ExecutionNo), ()>);

impl Waiters {
    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All who wait, with what they need.
    pub fn iter(&self) -> impl Iterator<Item = (&Need, ExecutionNo)> {
        self.0.keys().map(|(need, no)| (need, *no))
    }

    /// Notes who waits.
    pub fn insert(&mut self, no: ExecutionNo, need: Need) {
        self.0.insert((need, no), ());
    }

    pub(super) fn remove(&mut self, no: ExecutionNo, need: Need) {
        self.0.remove(&(need, no));
    }

    /// Nobody waits any more.
    pub fn clear(&mut self) {
        self.0 = SharedMap::new();
    }

    /// Who waits longest of those with each need, as long as `available` messages may do.
    pub(super) fn firsts(&self, available: usize) -> impl Iterator<Item = (&Need, ExecutionNo)> {
        let behind = |need: &Need| self.0.first_from(&(need.clone(), ExecutionNo(u64::MAX)));
        let all = std::iter::successors(self.0.first(), move |((known, _), ())| {
            behind(known).filter(|((need, _), ())| need != known)
        });
        all.map(|((need, no), ())| (need, *no)).take_while(move |(need, _)| need.least as usize <= available)
    }

    /// Who waits next after `no` with the same need.
    pub(super) fn after(&self, no: ExecutionNo, need: &Need) -> Option<ExecutionNo> {
        let ((found, next), ()) = self.0.first_from(&(need.clone(), ExecutionNo(no.0.saturating_add(1))))?;
        (found == need && *next > no).then_some(*next)
    }
}

/// Of one channel: the fewest messages that a condition takes of it.
#[derive(Clone, Copy, Debug)]
struct Fewest {
    /// In whichever way it is met.
    always: u32,
    /// In a way that takes some.
    some: u32,
}

type ByChannel<'a> = BTreeMap<&'a Slot, Fewest>;

impl Condition {
    /// Calls `visit` once for every channel that the condition names, with what makes it worth a look there.
    pub fn each_need(&self, visit: &mut impl FnMut(&Slot, Need)) {
        match self {
            Self::With(inner, _) => inner.each_need(visit),
            Self::Messages { slot, min, .. } => visit(slot, Need { least: (*min).max(1), always: None }),
            Self::Timer { .. } | Self::Child { .. } | Self::Ready(_) => {}
            Self::Any { .. } | Self::All(_) => {
                let fewest = self.fewest();
                let always = if fewest.len() > 1 { needed_always(&fewest) } else { None };
                for (slot, Fewest { some, .. }) in fewest {
                    visit(slot, Need { least: some, always: always.clone() });
                }
            }
        }
    }

    fn fewest(&self) -> ByChannel<'_> {
        match self {
            Self::With(inner, _) => inner.fewest(),
            Self::Messages { slot, min, .. } => {
                BTreeMap::from([(slot, Fewest { always: *min, some: (*min).max(1) })])
            }
            Self::Timer { .. } | Self::Child { .. } | Self::Ready(_) => BTreeMap::new(),
            Self::All(parts) => fewest_of_all(parts),
            Self::Any { of, .. } => fewest_of_any(of),
        }
    }
}

fn needed_always(fewest: &ByChannel<'_>) -> Option<Arc<[(Slot, u32)]>> {
    let always = fewest.iter().filter(|(_, fewest)| fewest.always > 0);
    let always: Arc<[_]> = always.take(OTHERS_MAX).map(|(slot, of)| ((*slot).clone(), of.always)).collect();
    (!always.is_empty()).then_some(always)
}

/// Parts that take from one channel add up; a way takes some of it if one part does.
fn fewest_of_all(parts: &[Condition]) -> ByChannel<'_> {
    let mut all = ByChannel::new();
    for (slot, part) in parts.iter().flat_map(Condition::fewest) {
        match all.entry(slot) {
            Entry::Vacant(new) => {
                new.insert(part);
            }
            Entry::Occupied(mut known) => {
                let Fewest { always, some } = *known.get();
                let some = some.saturating_add(part.always).min(always.saturating_add(part.some));
                known.insert(Fewest { always: always.saturating_add(part.always), some });
            }
        }
    }
    all
}

/// One alternative is enough, and it may be one that takes nothing of a channel.
fn fewest_of_any(of: &[Condition]) -> ByChannel<'_> {
    let mut any: BTreeMap<&Slot, (Fewest, usize)> = BTreeMap::new();
    for (slot, part) in of.iter().flat_map(Condition::fewest) {
        let (known, named) = any.entry(slot).or_insert((part, 0));
        known.always = known.always.min(part.always);
        known.some = known.some.min(part.some);
        *named += 1;
    }
    let everywhere = |named| named == of.len();
    let of_channel = any.into_iter().map(|(slot, (fewest, named))| {
        let always = if everywhere(named) { fewest.always } else { 0 };
        (slot, Fewest { always, ..fewest })
    });
    of_channel.collect()
}
