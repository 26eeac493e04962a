//! What a handler wrote, for a test to look at.

use crate::definition::{
    AttributeHandle, ChannelHandle, Goal, RpcContext, Step, StepContext, StepOptions, WaitContext,
};
use crate::engine::Staged;
use crate::ids::Slot;
use crate::value::{Payload, Value};

/// What a handler did to an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change<T> {
    /// It set this value.
    Set(T),
    /// It unset it.
    Deleted,
}

/// The last change counts, as when it is committed.
fn change<T: Value>(staged: &Staged, slot: &Slot) -> Option<Change<T>> {
    let (_, value) = staged.attributes.iter().rev().find(|(written, _)| written == slot)?;
    Some(value.as_ref().map_or(Change::Deleted, |value| Change::Set(decode(value))))
}

fn messages<T: Value>(staged: &Staged, slot: &Slot) -> Vec<T> {
    let of_slot = staged.messages.iter().filter(|(written, _)| written == slot);
    of_slot.map(|(_, message)| decode(message)).collect()
}

#[expect(
    clippy::expect_used,
    reason = "a value that does not read back is a fault of its type, for a test to show"
)]
pub(super) fn decode<T: Value>(value: &Payload) -> T {
    value.decode().expect("a value that was written reads back as its own type")
}

macro_rules! staged {
    ($context:ident) => {
        impl<F> $context<F> {
            /// What the handler did to the attribute, for a unit test; `None` if it left it alone.
            ///
            /// # Panics
            ///
            /// If the value does not read back as its own type.
            pub fn staged<A: AttributeHandle<F>>(&self, attribute: A) -> Option<Change<A::Value>> {
                // No handler can have written an entry whose key cannot be one.
                change(&self.core.staged, &attribute.slot().ok()?)
            }

            /// The messages that the handler put into the channel, in order, for a unit test.
            ///
            /// # Panics
            ///
            /// If a message does not read back as its own type.
            pub fn published<C: ChannelHandle<F>>(&self, channel: C) -> Vec<C::Value> {
                channel.slot().map(|slot| messages(&self.core.staged, &slot)).unwrap_or_default()
            }

            /// The numbers of the messages that the handler took out of the channel, for a unit test. The first one
            /// that the test [published](crate::testing::ContextBuilder::publish) has number 1.
            pub fn deleted<C: ChannelHandle<F>>(&self, channel: C) -> Vec<u64> {
                let Ok(slot) = channel.slot() else { return Vec::new() };
                let of_slot = self.core.staged.deleted.iter().filter(|(deleted, _)| *deleted == slot);
                of_slot.map(|(_, number)| *number).collect()
            }

            /// What the handler noted under this name, in order, for a unit test.
            ///
            /// # Panics
            ///
            /// If a value does not read back as `T`.
            pub fn noted<T: Value>(&self, name: &str) -> Vec<T> {
                let of_name = self.core.staged.notes.iter().filter(|note| note.name.as_str() == name);
                of_name.map(|note| decode(&note.value)).collect()
            }
        }
    };
}

staged!(StepContext);
staged!(WaitContext);
staged!(RpcContext);

impl<F> RpcContext<F> {
    /// The inputs with which the RPC starts the step, in order, for a unit test.
    ///
    /// # Panics
    ///
    /// If an input does not read back as its own type.
    pub fn started<I: Value>(&self, step: Step<F, I>) -> Vec<I> {
        self.goals(step).map(|goal| decode(&goal.input)).collect()
    }

    /// The options with which the RPC starts the step, in order, for a unit test. Where it gives none, they set
    /// nothing.
    pub fn started_with<I: Value>(&self, step: Step<F, I>) -> Vec<StepOptions<F, I>> {
        self.goals(step).map(|goal| StepOptions::of(goal.given())).collect()
    }

    fn goals<I>(&self, step: Step<F, I>) -> impl Iterator<Item = &Goal> {
        self.movements.iter().filter(move |goal| goal.step == step.name())
    }
}
