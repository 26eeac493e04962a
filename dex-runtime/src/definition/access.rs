//! What a value or a queue is spoken of by: a handle, or an entry of a map.

use super::entry::{AttributeEntry, ChannelEntry};
use super::handle::{Attribute, AttributeMap, Channel, ChannelMap, stored};
use super::key::Key;
use crate::engine::MapKind;
use crate::ids::{Name, Slot};
use crate::value::{Value, ValueError};

mod private {
    pub trait Sealed {}
}

/// An attribute of flow `F`, or an entry of one of its attribute maps.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an attribute of `{F}`",
    label = "write an attribute of `{F}`, or an entry of one of its maps: `Self::SCORES.at(&key)`"
)]
pub trait AttributeHandle<F>: private::Sealed + Send + Sync {
    /// The type of its value.
    type Value: Value;

    /// Where its value is.
    #[doc(hidden)]
    fn slot(&self) -> Result<Slot, ValueError>;
}

/// A channel of flow `F`, or an entry of one of its channel maps.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a channel of `{F}`",
    label = "write a channel of `{F}`, or an entry of one of its maps: `Self::ORDERS.at(&key)`"
)]
pub trait ChannelHandle<F>: private::Sealed + Send + Sync {
    /// The type of its messages.
    type Value: Value;

    /// Where its messages are.
    #[doc(hidden)]
    fn slot(&self) -> Result<Slot, ValueError>;
}

/// An attribute map or a channel map of flow `F`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map of `{F}`",
    label = "write an `AttributeMap` or a `ChannelMap` of `{F}`"
)]
pub trait MapHandle<F>: private::Sealed + Send + Sync {
    /// The type of its keys.
    type Key: Key;

    /// Its stored name, and what its keys are.
    #[doc(hidden)]
    fn map(&self) -> (Name, MapKind);
}

macro_rules! handle {
    ($of:ident: $($handle:ident),*) => {
        $(
            impl<F, T> private::Sealed for $handle<F, T> {}

            #[diagnostic::do_not_recommend]
            impl<F, T: Value> $of<F> for $handle<F, T> {
                type Value = T;

                fn slot(&self) -> Result<Slot, ValueError> {
                    self.place()
                }
            }

            impl<F, T> private::Sealed for &$handle<F, T> {}

            #[diagnostic::do_not_recommend]
            impl<F, T: Value> $of<F> for &$handle<F, T> {
                type Value = T;

                fn slot(&self) -> Result<Slot, ValueError> {
                    self.place()
                }
            }
        )*
    };
}

handle!(AttributeHandle: Attribute, AttributeEntry);
handle!(ChannelHandle: Channel, ChannelEntry);

impl<F, K, T> private::Sealed for AttributeMap<F, K, T> {}

#[diagnostic::do_not_recommend]
impl<F, K: Key, T> MapHandle<F> for AttributeMap<F, K, T> {
    type Key = K;

    fn map(&self) -> (Name, MapKind) {
        (stored(self.name()), MapKind::Attribute)
    }
}

impl<F, K, T> private::Sealed for ChannelMap<F, K, T> {}

#[diagnostic::do_not_recommend]
impl<F, K: Key, T> MapHandle<F> for ChannelMap<F, K, T> {
    type Key = K;

    fn map(&self) -> (Name, MapKind) {
        (stored(self.name()), MapKind::Channel)
    }
}
