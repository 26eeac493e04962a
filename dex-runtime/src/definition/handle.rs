//! Typed handles: what a flow's constants are.

use std::fmt;
use std::marker::PhantomData;

use crate::ids::{Name, Slot};
use crate::value::ValueError;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $($value:ident),+) => {
        $(#[$doc])*
        pub struct $name<F, $($value),+> {
            name: &'static str,
            // A handle owns neither; this makes it `Copy`, `Send` and `Sync` whatever they are.
            types: PhantomData<fn() -> (F, $($value),+)>,
        }

        impl<F, $($value),+> $name<F, $($value),+> {
            /// The handle of the flow's member with this stored name. The macros write this call.
            #[doc(hidden)]
            pub const fn new(name: &'static str) -> Self {
                Self { name, types: PhantomData }
            }

            /// The stored name.
            pub const fn name(self) -> &'static str {
                self.name
            }
        }

        impl<F, $($value),+> Clone for $name<F, $($value),+> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<F, $($value),+> Copy for $name<F, $($value),+> {}

        impl<F, $($value),+> fmt::Debug for $name<F, $($value),+> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.name).finish()
            }
        }
    };
}

handle! {
    /// A durable, typed value of a run: `#[attribute] const STATUS: Attribute<Status>;`.
    ///
    /// It is not set until something sets it. A step reads and writes it through its context; the write
    /// takes effect together with the step's decision or not at all.
    Attribute, T
}

handle! {
    /// Durable, typed values of a run, each with a key of its own:
    /// `#[attribute] const SCORES: AttributeMap<Player, u32>;`.
    ///
    /// [`at`](Self::at) chooses an entry, which stands wherever an attribute does.
    AttributeMap, K, T
}

handle! {
    /// A durable queue of a run: `#[channel] const APPROVAL: Channel<Approval>;`.
    ///
    /// Messages stay, in the order of arrival, until a wait takes them. `one()`, `n(k)`, `at_least(k)`,
    /// `up_to(k)` and `between(a, b)` are the conditions that take from it.
    Channel, T
}

handle! {
    /// Durable queues of a run, each with a key of its own: `#[channel] const ORDERS: ChannelMap<OrderId, Order>;`.
    ///
    /// [`at`](Self::at) chooses one, which stands wherever a channel does.
    ChannelMap, K, T
}

handle! {
    /// A step of a flow and the type of its input: `fn charge` gives the constant `CHARGE`.
    Step, I
}

impl<F, T> Attribute<F, T> {
    #[expect(clippy::unnecessary_wraps, reason = "as of the entries of a map, whose keys may be wrong")]
    pub(super) fn place(self) -> Result<Slot, ValueError> {
        Ok(Slot::single(stored(self.name)))
    }
}

impl<F, T> Channel<F, T> {
    #[expect(clippy::unnecessary_wraps, reason = "as of the entries of a map, whose keys may be wrong")]
    pub(super) fn place(self) -> Result<Slot, ValueError> {
        Ok(Slot::single(stored(self.name)))
    }
}

#[expect(
    clippy::expect_used,
    reason = "a wrong name is a fault of the macros, which check the names they write"
)]
pub(crate) fn stored(name: &'static str) -> Name {
    Name::new(name).expect("the macros check the names that they write")
}
