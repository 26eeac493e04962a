//! Typed handles: what a flow's constants are.

use std::fmt;
use std::marker::PhantomData;

use crate::ids::{Name, Slot};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $value:ident) => {
        $(#[$doc])*
        pub struct $name<F, $value> {
            name: &'static str,
            // A handle owns neither; this makes it `Copy`, `Send` and `Sync` whatever they are.
            types: PhantomData<fn() -> (F, $value)>,
        }

        impl<F, $value> $name<F, $value> {
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

        impl<F, $value> Clone for $name<F, $value> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<F, $value> Copy for $name<F, $value> {}

        impl<F, $value> fmt::Debug for $name<F, $value> {
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
    /// A durable queue of a run: `#[channel] const APPROVAL: Channel<Approval>;`.
    ///
    /// Messages stay, in the order of arrival, until a wait takes them. `one()`, `n(k)`, `at_least(k)` and
    /// `up_to(k)` are the conditions that take from it.
    Channel, T
}

handle! {
    /// A step of a flow and the type of its input: `fn charge` gives the constant `CHARGE`.
    Step, I
}

impl<F, T> Attribute<F, T> {
    pub(crate) fn slot(self) -> Slot {
        slot(self.name)
    }
}

impl<F, T> Channel<F, T> {
    pub(crate) fn slot(self) -> Slot {
        slot(self.name)
    }
}

#[expect(
    clippy::expect_used,
    reason = "a wrong name is a fault of the macros, which check the names they write"
)]
fn slot(name: &'static str) -> Slot {
    Slot::single(Name::new(name).expect("the macros check the names that they write"))
}
