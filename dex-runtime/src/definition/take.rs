//! Conditions on channels: how many messages a wait takes.

use std::fmt;
use std::marker::PhantomData;

use super::access::ChannelHandle as _;
use super::entry::ChannelEntry;
use super::flow::Flow;
use super::handle::Channel;
use super::wait::{Condition, Part, PartKind};
use crate::engine;
use crate::ids::Slot;
use crate::value::{Value, ValueError};

/// One message of a channel; made by [`Channel::one`].
#[must_use = "a condition does nothing by itself: wait for it with `Wait::one`, `any` or `all`"]
pub struct OneMessage<F, T> {
    slot: Result<Slot, ValueError>,
    types: PhantomData<fn() -> (F, T)>,
}

/// Several messages of a channel; made by [`Channel::n`] and its like.
#[must_use = "a condition does nothing by itself: wait for it with `Wait::one`, `any` or `all`"]
pub struct Messages<F, T> {
    slot: Result<Slot, ValueError>,
    min: usize,
    max: usize,
    types: PhantomData<fn() -> (F, T)>,
}

impl<F, T> OneMessage<F, T> {
    pub(super) fn of(slot: Result<Slot, ValueError>) -> Self {
        Self { slot, types: PhantomData }
    }
}

impl<F, T> Messages<F, T> {
    pub(super) fn of(slot: Result<Slot, ValueError>, min: usize, max: usize) -> Self {
        Self { slot, min, max, types: PhantomData }
    }
}

macro_rules! takes {
    ($channel:ident) => {
        impl<F, T: Value> $channel<F, T> {
            /// The oldest message. The step is given a `T`.
            pub fn one(self) -> OneMessage<F, T> {
                OneMessage::of(self.slot())
            }

            /// The oldest `count` messages. The step is given a `Vec<T>` of exactly so many.
            pub fn n(self, count: usize) -> Messages<F, T> {
                Messages::of(self.slot(), count, count)
            }

            /// All messages there are, once there are `count`.
            pub fn at_least(self, count: usize) -> Messages<F, T> {
                Messages::of(self.slot(), count, usize::MAX)
            }

            /// At most `max` of the messages there are, once there are `min`. The step is given a `Vec<T>`.
            ///
            /// With `min` above `max` it could never be met, so the step that waits for it is parked, with that reason.
            pub fn between(self, min: usize, max: usize) -> Messages<F, T> {
                Messages::of(self.slot(), min, max)
            }

            /// At most `count` of the messages that are there now. Met at once, if need be with an empty vector.
            pub fn up_to(self, count: usize) -> Messages<F, T> {
                Messages::of(self.slot(), 0, count)
            }
        }
    };
}

takes!(Channel);
takes!(ChannelEntry);

impl<F, T> fmt::Debug for OneMessage<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OneMessage").field(&self.slot).finish()
    }
}

impl<F, T> fmt::Debug for Messages<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slot, min, max, types: _ } = self;
        f.debug_struct("Messages").field("slot", slot).field("min", min).field("max", max).finish()
    }
}

#[diagnostic::do_not_recommend]
impl<F: Flow, T: Value> Condition<F> for OneMessage<F, T> {
    type Output = T;

    fn part(self) -> Result<Part, ValueError> {
        let slot = self.slot?;
        Ok(Part(PartKind::Fixed(engine::Condition::Messages { slot, min: 1, max: 1, single: true })))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Flow, T: Value> Condition<F> for Messages<F, T> {
    type Output = Vec<T>;

    fn part(self) -> Result<Part, ValueError> {
        let bound = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (slot, min, max) = (self.slot?, bound(self.min), bound(self.max));
        Ok(Part(PartKind::Fixed(engine::Condition::Messages { slot, min, max, single: false })))
    }
}
