//! A decision that depends on what is in channels at the moment of the commit.

use std::fmt;

use super::access::ChannelHandle;
use super::entry::ChannelEntry;
use super::flow::Flow;
use super::handle::{Channel, Step};
use super::next::{Choice, Goal, Next};
use super::options::StepOptions;
use crate::ids::Slot;
use crate::value::{Payload, Value, ValueError};

/// One or more channels of flow `F`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of channels of `{F}`",
    label = "not channels of this flow",
    note = "write one channel, a tuple of 2 to 6, or an array"
)]
pub trait Channels<F> {
    /// Where their messages are.
    #[doc(hidden)]
    fn slots(self) -> Result<Vec<Slot>, ValueError>;
}

#[diagnostic::do_not_recommend]
impl<F: Flow, T: Value> Channels<F> for Channel<F, T> {
    fn slots(self) -> Result<Vec<Slot>, ValueError> {
        Ok(vec![self.slot()?])
    }
}

#[diagnostic::do_not_recommend]
impl<F: Flow, T: Value> Channels<F> for ChannelEntry<F, T> {
    fn slots(self) -> Result<Vec<Slot>, ValueError> {
        Ok(vec![self.slot()?])
    }
}

#[diagnostic::do_not_recommend]
impl<F: Flow, C: ChannelHandle<F>, const N: usize> Channels<F> for [C; N] {
    fn slots(self) -> Result<Vec<Slot>, ValueError> {
        const { assert!(N > 0, "no channels at all are always empty: write at least one") };
        self.iter().map(ChannelHandle::slot).collect()
    }
}

macro_rules! tuple {
    ($($channel:ident $place:tt),+) => {
        #[diagnostic::do_not_recommend]
        impl<Fl: Flow, $($channel: ChannelHandle<Fl>),+> Channels<Fl> for ($($channel,)+) {
            fn slots(self) -> Result<Vec<Slot>, ValueError> {
                Ok(vec![$(self.$place.slot()?),+])
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);

/// Half of a decision; made by [`Next::complete_if_empty`], and whole with [`or_to`](Self::or_to).
#[must_use = "say what follows if a message is there: `.or_to(step, input)`"]
pub struct IfEmpty<F: Flow> {
    channels: Result<Vec<Slot>, ValueError>,
    output: Result<Payload, ValueError>,
    flow: std::marker::PhantomData<fn() -> F>,
}

impl<F: Flow> IfEmpty<F> {
    pub(super) fn new(channels: Result<Vec<Slot>, ValueError>, output: Result<Payload, ValueError>) -> Self {
        Self { channels, output, flow: std::marker::PhantomData }
    }

    /// Goes on with `step` if a message is there.
    pub fn or_to<I: Value>(self, step: Step<F, I>, input: I) -> Next<F> {
        self.or_to_with(step, input, StepOptions::new())
    }

    /// As [`or_to`](Self::or_to), with other options for this one movement.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn or_to_with<I: Value>(self, step: Step<F, I>, input: I, options: StepOptions<F, I>) -> Next<F> {
        let Self { channels, output, .. } = self;
        Next::of(channels.and_then(|channels| {
            let output = output?;
            let otherwise = Goal::new(step, &input, &options)?;
            Ok(Choice::IfEmpty { channels, output, otherwise })
        }))
    }
}

impl<F: Flow> fmt::Debug for IfEmpty<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IfEmpty")
            .field("channels", &self.channels)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}
