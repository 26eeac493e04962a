//! What a snapshot holds both under the old name of an attribute or a channel and under the new one.
//!
//! It happens to those who rename first and think of the alias later.

use std::collections::BTreeSet;

use super::bytes::{ReadError, Reader};
use crate::engine::{Attribute, ChannelState, RunState, SharedMap};
use crate::ids::Slot;

/// Of two values of one attribute the one that was written later counts.
pub(super) fn attributes(list: Vec<(Slot, Attribute)>) -> SharedMap<Slot, Attribute> {
    let mut attributes: SharedMap<Slot, Attribute> = SharedMap::new();
    for (slot, attribute) in list {
        if attributes.get(&slot).is_none_or(|other| other.version <= attribute.version) {
            attributes.insert(slot, attribute);
        }
    }
    attributes
}

/// The messages of both channels, if their numbers tell them apart.
pub(super) fn channels(input: &mut Reader<'_>) -> Result<SharedMap<Slot, ChannelState>, ReadError> {
    let list: Vec<_> = input.list(|input| Ok((input.slot()?, input.channel()?)))?;
    let mut channels: SharedMap<Slot, ChannelState> = SharedMap::new();
    for (slot, channel) in list {
        let Some(other) = channels.get_mut(&slot) else {
            channels.insert(slot, channel);
            continue;
        };
        other.published = other.published.max(channel.published);
        for (number, value) in &channel.queue {
            if other.queue.insert(*number, value.clone()).is_some() {
                return Err(in_both(input, &slot));
            }
        }
    }
    Ok(channels)
}

/// Refuses if a message that a step has taken has the number of another one.
pub(super) fn check_messages(input: &Reader<'_>, state: &RunState) -> Result<(), ReadError> {
    let mut seen = BTreeSet::new();
    let outcomes = state.executions.values().filter_map(|execution| execution.outcome.as_ref());
    for (slot, message) in outcomes.flat_map(|outcome| &outcome.reserved) {
        let queue = state.channels.get(slot).map(|channel| &channel.queue);
        let is_queued = queue.is_some_and(|queue| queue.contains_key(&message.number));
        if is_queued || !seen.insert((slot, message.number)) {
            return Err(in_both(input, slot));
        }
    }
    Ok(())
}

fn in_both(input: &Reader<'_>, slot: &Slot) -> ReadError {
    input.error(format!(
        "channel {slot} has messages under its old and under its new name, and nobody can tell their order: \
         let a build without the alias take them first"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{decode_state, decode_state_renamed, encode_state};
    use super::*;
    use crate::engine::{Condition, Event, Matched, Recorded, RunIdentity, Source, fold};
    use crate::ids::{ExecutionNo, FlowId, Name, Renamed, RunId};
    use crate::time::Timestamp;
    use crate::value::Payload;

    fn slot(name: &str) -> Slot {
        Slot::single(Name::new(name).unwrap())
    }

    fn value(of: u32) -> Payload {
        Payload::encode(&of).unwrap()
    }

    fn renamed() -> Renamed {
        [(Name::new("old").unwrap(), Name::new("new").unwrap())].into()
    }

    /// The snapshot of a run to which these transitions happened, each of one event.
    fn snapshot(events: impl IntoIterator<Item = Event>) -> bytes::Bytes {
        let identity = RunIdentity {
            flow: Name::new("shop").unwrap(),
            flow_id: FlowId::new("r").unwrap(),
            run_id: RunId::from_bytes([1; 16]),
            started_at: Timestamp::EPOCH,
            parent: None,
        };
        let all = [Event::RunStarted { identity, timeout: None }].into_iter().chain(events);
        let history = (1..).zip(all).map(|(sequence, event)| Recorded {
            sequence,
            at: Timestamp::EPOCH,
            events: vec![event],
        });
        encode_state(&fold(None, history).unwrap().unwrap())
    }

    fn set(name: &str, to: u32) -> Event {
        Event::AttributeSet { slot: slot(name), value: value(to) }
    }

    fn published(name: &str, message: u32) -> Event {
        Event::MessagePublished { slot: slot(name), value: value(message) }
    }

    #[test]
    fn the_value_that_was_written_later_counts_under_whatever_name() {
        for events in [[set("old", 1), set("new", 2)], [set("new", 1), set("old", 2)]] {
            let state = decode_state_renamed(&snapshot(events), &renamed()).unwrap();
            assert_eq!(state.attributes.len(), 1);
            assert_eq!(state.attributes[&slot("new")].value, value(2));
        }
    }

    #[test]
    fn messages_under_both_names_are_joined_if_their_numbers_differ() {
        let deleted = Event::MessageDeleted { slot: slot("new"), number: 1 };
        let events = [published("old", 1), published("new", 8), published("new", 2), deleted];
        let state = decode_state_renamed(&snapshot(events), &renamed()).unwrap();
        let channel = &state.channels[&slot("new")];
        assert!(channel.queue.values().eq(&[value(1), value(2)]));
        assert_eq!((state.channels.len(), channel.published), (1, 2));
    }

    #[test]
    fn messages_with_the_same_numbers_are_refused_and_nothing_is_lost() {
        let both = snapshot([published("old", 1), published("new", 2)]);
        let error = decode_state_renamed(&both, &renamed()).unwrap_err().to_string();
        assert!(error.contains("channel new has messages under its old and under its new name"), "{error}");
        // A build without the alias reads it as it is.
        assert_eq!(decode_state(&both).unwrap().channels.len(), 2);
    }

    #[test]
    fn a_message_that_a_step_has_taken_counts_as_well() {
        let step = Event::StepScheduled {
            execution: ExecutionNo(1),
            step: Name::new("take").unwrap(),
            source: Source::Start,
            input: Payload::NULL,
            waits: true,
            recovery: None,
            locks: Vec::new(),
            patch: None,
        };
        let condition = Condition::Messages { slot: slot("old"), min: 1, max: 1, single: true };
        let waits = Event::WaitStarted { execution: ExecutionNo(1), condition };
        let taken = Event::WaitMet { execution: ExecutionNo(1), matched: Matched::Messages(1) };
        let only_old = [published("old", 1), step, waits, taken];
        let state = decode_state_renamed(&snapshot(only_old.clone()), &renamed()).unwrap();
        assert_eq!(state.channels[&slot("new")].reserved, 1);
        let both = snapshot(only_old.into_iter().chain([published("new", 2)]));
        decode_state_renamed(&both, &renamed()).unwrap_err();
    }
}
