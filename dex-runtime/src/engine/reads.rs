//! What a transaction saw of a run, and whether it is still so.

use std::ops::RangeInclusive;

use super::decide::Rejection;
use super::shared::SharedMap;
use super::state::{Attribute, ChannelState, RunState};
use crate::ids::{MapKey, Name, Slot};
use crate::value::Payload;

/// What a transaction saw.
///
/// What is compared is what it was told, and no more: a message to a channel of which only the keys were listed
/// is no conflict, unless it is the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// An attribute, with the version that it saw, or `None` if it was not set.
    Attribute(Slot, Option<u64>),
    /// The keys of a map.
    Keys {
        /// The map's stored name.
        map: Name,
        /// Of which kind it is.
        kind: MapKind,
        /// The keys that it saw, in the order of their texts.
        seen: Vec<MapKey>,
    },
    /// How many messages nobody had reserved.
    Size(Slot, usize),
    /// Whether nobody had reserved the message with this number.
    Message(Slot, u64, bool),
    /// The messages that nobody had reserved, by their numbers. A number never gets another message.
    Messages(Slot, Vec<RangeInclusive<u64>>),
}

/// All that a transaction saw.
pub type Reads = Vec<Read>;

/// A kind of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MapKind {
    /// Its keys are those that have a value.
    Attribute,
    /// Its keys are those that have messages which nobody has reserved.
    Channel,
}

/// The numbers of messages, as runs of consecutive ones: most often there is one.
pub fn numbers(queue: &SharedMap<u64, Payload>) -> Vec<RangeInclusive<u64>> {
    let mut runs: Vec<RangeInclusive<u64>> = Vec::new();
    for number in queue.keys().copied() {
        match runs.last_mut() {
            Some(run) if *run.end() + 1 == number => *run = *run.start()..=number,
            _ => runs.push(number..=number),
        }
    }
    runs
}

/// The keys of an attribute map that have a value, in the order of their texts.
pub fn attribute_keys<'a>(
    attributes: &'a SharedMap<Slot, Attribute>,
    map: &'a Name,
) -> impl Iterator<Item = (&'a MapKey, &'a Attribute)> {
    entries(attributes, map)
}

/// The keys of a channel map that have messages which nobody has reserved, in the order of their texts.
pub fn channel_keys<'a>(
    channels: &'a SharedMap<Slot, ChannelState>,
    map: &'a Name,
) -> impl Iterator<Item = (&'a MapKey, &'a ChannelState)> {
    entries(channels, map).filter(|(_, channel)| !channel.queue.is_empty())
}

fn entries<'a, V>(slots: &'a SharedMap<Slot, V>, map: &'a Name) -> impl Iterator<Item = (&'a MapKey, &'a V)> {
    let of_map = slots.range_from(&Slot::single(map.clone())).take_while(|(slot, _)| slot.name == *map);
    of_map.filter_map(|(slot, value)| Some((slot.key.as_ref()?, value)))
}

/// Refuses if something that was read is not so any more.
pub(super) fn check(state: &RunState, reads: Reads) -> Result<(), Rejection> {
    let changed = reads.into_iter().find(|read| !read.holds(state));
    match changed {
        Some(
            Read::Attribute(slot, _)
            | Read::Size(slot, _)
            | Read::Message(slot, ..)
            | Read::Messages(slot, _),
        ) => Err(Rejection::Conflict { slot }),
        Some(Read::Keys { map, .. }) => Err(Rejection::Conflict { slot: Slot::single(map) }),
        None => Ok(()),
    }
}

impl Read {
    fn holds(&self, state: &RunState) -> bool {
        match self {
            Self::Attribute(slot, seen) => {
                state.attributes.get(slot).map(|attribute| attribute.version) == *seen
            }
            Self::Keys { map, kind: MapKind::Attribute, seen } => {
                attribute_keys(&state.attributes, map).map(|(key, _)| key).eq(seen)
            }
            Self::Keys { map, kind: MapKind::Channel, seen } => {
                channel_keys(&state.channels, map).map(|(key, _)| key).eq(seen)
            }
            Self::Message(slot, number, seen) => state.has_message(slot, *number) == *seen,
            Self::Size(slot, seen) => state.available(slot) == *seen,
            Self::Messages(slot, seen) => {
                state.channels.get(slot).map(|channel| numbers(&channel.queue)).unwrap_or_default() == *seen
            }
        }
    }
}
