//! Conditions: what a wait takes, and what the step is given.
//!
//! A condition is a tree. It is met by looking at it from the top: `any` takes its first alternative that
//! can be met together with the rest, `all` needs every part at once, and parts that take from one channel
//! add up. Minimums are reserved first; what is left in a channel then goes to the parts in the order
//! written, up to each one's maximum.

use super::state::{ChannelState, Message};
use crate::ids::Slot;
use crate::time::Timestamp;
use crate::value::Payload;

/// What an execution waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Messages of a channel.
    Messages {
        /// The channel.
        slot: Slot,
        /// Fewest that will do.
        min: u32,
        /// Most that are taken. At least `min`.
        max: u32,
        /// Whether the step is given the one message itself instead of a list.
        single: bool,
    },
    /// An instant.
    Timer {
        /// When.
        at: Timestamp,
    },
    /// The end of a child of this execution.
    Child {
        /// Its place among the children of the wait, from 0 in the order of the condition's parts.
        index: u32,
    },
    /// Nothing: met at once, with this value.
    Ready(Payload),
    /// The first alternative that can be met. Never empty.
    Any {
        /// The alternatives, in the order written.
        of: Vec<Condition>,
        /// Whether the step is given a choice (`OneOf…`) instead of a pair of place and value.
        tagged: bool,
    },
    /// Every part. Never empty.
    All(Vec<Condition>),
    /// A condition whose outcome is given together with a value that `wait_for` computed.
    With(Box<Condition>, Payload),
}

/// How a condition was met; has the condition's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matched {
    /// So many messages.
    Messages(u32),
    /// The instant came, or nothing was needed.
    Plain,
    /// This alternative.
    Any(u32, Box<Matched>),
    /// Every part.
    All(Vec<Matched>),
    /// The inner condition.
    With(Box<Matched>),
}

/// A wait that was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was waited for.
    pub condition: Condition,
    /// How it was met.
    pub matched: Matched,
    /// The messages that are reserved for the step, in the order of the condition's parts.
    pub reserved: Vec<(Slot, Message)>,
}

impl Condition {
    /// Groups that may stand inside one another. Nobody writes more by hand, and reading a stored condition
    /// back takes a stack frame for each.
    pub const DEPTH_MAX: usize = 32;

    /// Groups that stand inside one another, this condition included.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Messages { .. } | Self::Timer { .. } | Self::Child { .. } | Self::Ready(_) => 1,
            Self::Any { of, .. } | Self::All(of) => 1 + of.iter().map(Self::depth).max().unwrap_or(0),
            Self::With(inner, _) => 1 + inner.depth(),
        }
    }

    /// Calls `visit` for every channel that the condition names, repeated ones repeatedly.
    pub fn each_channel<'a>(&'a self, visit: &mut impl FnMut(&'a Slot)) {
        match self {
            Self::Messages { slot, .. } => visit(slot),
            Self::Timer { .. } | Self::Child { .. } | Self::Ready(_) => {}
            Self::Any { of, .. } | Self::All(of) => of.iter().for_each(|part| part.each_channel(visit)),
            Self::With(inner, _) => inner.each_channel(visit),
        }
    }

    /// Calls `visit` for every child that the condition names.
    pub fn each_child(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Self::Child { index } => visit(*index),
            Self::Messages { .. } | Self::Timer { .. } | Self::Ready(_) => {}
            Self::Any { of, .. } | Self::All(of) => of.iter().for_each(|part| part.each_child(visit)),
            Self::With(inner, _) => inner.each_child(visit),
        }
    }

    /// Calls `visit` for every child without whose end the condition cannot be met.
    pub(super) fn each_needed_child(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Self::Child { index } => visit(*index),
            Self::All(of) => of.iter().for_each(|part| part.each_needed_child(visit)),
            Self::With(inner, _) => inner.each_needed_child(visit),
            Self::Messages { .. } | Self::Timer { .. } | Self::Ready(_) | Self::Any { .. } => {}
        }
    }

    /// Puts the ends of children in the places of those that have ended.
    pub(super) fn fill_in(&mut self, ended: &mut impl FnMut(u32) -> Option<Payload>) {
        match self {
            Self::Child { index } => {
                if let Some(result) = ended(*index) {
                    *self = Self::Ready(result);
                }
            }
            Self::Messages { .. } | Self::Timer { .. } | Self::Ready(_) => {}
            Self::Any { of, .. } | Self::All(of) => of.iter_mut().for_each(|part| part.fill_in(ended)),
            Self::With(inner, _) => inner.fill_in(ended),
        }
    }

    /// The earliest timer after `fired_until`.
    pub fn next_timer(&self, fired_until: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Timer { at } => (*at > fired_until).then_some(*at),
            Self::Messages { .. } | Self::Child { .. } | Self::Ready(_) => None,
            Self::Any { of, .. } | Self::All(of) => {
                of.iter().filter_map(|part| part.next_timer(fired_until)).min()
            }
            Self::With(inner, _) => inner.next_timer(fired_until),
        }
    }

    /// Whether some group in it has no parts: such a wait would be met at once, or never.
    pub(super) fn has_empty_group(&self) -> bool {
        match self {
            Self::Any { of, .. } | Self::All(of) => of.is_empty() || of.iter().any(Self::has_empty_group),
            Self::With(inner, _) => inner.has_empty_group(),
            Self::Messages { .. } | Self::Timer { .. } | Self::Child { .. } | Self::Ready(_) => false,
        }
    }

    /// The first part, if there is one, that asks for a number of messages that cannot be: channel, least, most.
    pub(super) fn impossible_count(&self, channel_messages_max: usize) -> Option<(&Slot, u32, u32)> {
        match self {
            Self::Messages { slot, min, max, single } => {
                let unlike_one = *single && (*min, *max) != (1, 1);
                let impossible = min > max || *min as usize > channel_messages_max || unlike_one;
                impossible.then_some((slot, *min, *max))
            }
            Self::Timer { .. } | Self::Child { .. } | Self::Ready(_) => None,
            Self::Any { of, .. } | Self::All(of) => {
                of.iter().find_map(|part| part.impossible_count(channel_messages_max))
            }
            Self::With(inner, _) => inner.impossible_count(channel_messages_max),
        }
    }
}

/// Takes the messages that `matched` reserves, in the order of the condition's parts.
///
/// Gives `None`, with nothing promised about the channels, if `matched` does not have the condition's
/// shape or asks for more than there is: a damaged history.
pub(super) fn take(
    condition: &Condition,
    matched: &Matched,
    channel: &mut impl FnMut(&Slot, usize) -> Option<Vec<Message>>,
    reserved: &mut Vec<(Slot, Message)>,
) -> Option<()> {
    match (condition, matched) {
        (Condition::Messages { slot, .. }, Matched::Messages(count)) => {
            let messages = channel(slot, *count as usize)?;
            reserved.extend(messages.into_iter().map(|message| (slot.clone(), message)));
            Some(())
        }
        (Condition::Timer { .. } | Condition::Child { .. } | Condition::Ready(_), Matched::Plain) => Some(()),
        (Condition::Any { of, .. }, Matched::Any(index, inner)) => {
            take(of.get(*index as usize)?, inner, channel, reserved)
        }
        (Condition::All(parts), Matched::All(all)) if parts.len() == all.len() => {
            parts.iter().zip(all).try_for_each(|(part, inner)| take(part, inner, channel, reserved))
        }
        (Condition::With(inner, _), Matched::With(matched)) => take(inner, matched, channel, reserved),
        _ => None,
    }
}

impl ChannelState {
    /// Moves the oldest `count` messages out as reserved ones; `None` if there are fewer.
    pub(super) fn reserve(&mut self, count: usize) -> Option<Vec<Message>> {
        if count > self.queue.len() {
            return None;
        }
        self.reserved += count;
        let oldest = std::iter::from_fn(|| self.queue.pop_first()).take(count);
        Some(oldest.map(|(number, value)| Message { number, value }).collect())
    }

    /// Puts a reserved message back where it came from.
    ///
    /// Newer messages may have been given back before it, and older ones may still be reserved, so its
    /// number says where it belongs.
    pub(super) fn give_back(&mut self, message: Message) {
        self.reserved = self.reserved.saturating_sub(1);
        self.queue.insert(message.number, message.value);
    }
}

impl Outcome {
    /// The value that the step is given.
    pub fn value(&self) -> Payload {
        let mut messages = self.reserved.iter().map(|(_, message)| &message.value);
        render(&self.condition, &self.matched, &mut messages)
    }
}

fn render<'a>(
    condition: &Condition,
    matched: &Matched,
    messages: &mut impl Iterator<Item = &'a Payload>,
) -> Payload {
    match (condition, matched) {
        (Condition::Messages { single: true, .. }, Matched::Messages(_)) => {
            messages.next().cloned().unwrap_or(Payload::NULL)
        }
        (Condition::Messages { .. }, Matched::Messages(count)) => {
            let taken: Vec<_> = messages.take(*count as usize).collect();
            Payload::list(taken)
        }
        (Condition::Ready(value), _) => value.clone(),
        (Condition::Any { of, tagged }, Matched::Any(index, inner)) => {
            let index = *index as usize;
            let value = of.get(index).map_or(Payload::NULL, |part| render(part, inner, messages));
            if *tagged { Payload::variant(index, &value) } else { Payload::indexed(index, &value) }
        }
        (Condition::All(parts), Matched::All(all)) => {
            let values: Vec<_> =
                parts.iter().zip(all).map(|(part, inner)| render(part, inner, messages)).collect();
            Payload::list(&values)
        }
        (Condition::With(inner, local), Matched::With(matched)) => {
            let value = render(inner, matched, messages);
            Payload::list([&value, local])
        }
        _ => Payload::NULL,
    }
}
