//! Entries of maps: a handle with a key.

use std::fmt;
use std::marker::PhantomData;

use super::access::ChannelHandle;
use super::handle::{AttributeMap, ChannelMap, stored};
use super::key::{AsKey, Key};
use super::take::{Messages, OneMessage};
use crate::ids::{IdError, MapKey, Slot};
use crate::value::ValueError;

macro_rules! entry {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<F, T> {
            map: &'static str,
            key: Result<MapKey, IdError>,
            types: PhantomData<fn() -> (F, T)>,
        }

        impl<F, T> $name<F, T> {
            /// The stored name of the map.
            pub fn map(&self) -> &'static str {
                self.map
            }

            pub(super) fn place(&self) -> Result<Slot, ValueError> {
                let invalid = |reason: &IdError| ValueError::InvalidKey { map: self.map, reason: reason.clone() };
                let key = self.key.as_ref().map_err(invalid)?;
                Ok(Slot { name: stored(self.map), key: Some(key.clone()) })
            }
        }

        impl<F, T> Clone for $name<F, T> {
            fn clone(&self) -> Self {
                Self { map: self.map, key: self.key.clone(), types: PhantomData }
            }
        }

        impl<F, T> fmt::Debug for $name<F, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.map).field(&self.key).finish()
            }
        }
    };
}

entry! {
    /// One entry of an attribute map; made by [`AttributeMap::at`]. It stands wherever an attribute does.
    AttributeEntry
}

entry! {
    /// One entry of a channel map; made by [`ChannelMap::at`]. It stands wherever a channel does.
    ChannelEntry
}

impl<F, K: Key, T> AttributeMap<F, K, T> {
    /// The entry with this key, whether it has a value or not.
    ///
    /// A key that cannot be one is refused where the entry is used, with
    /// [`ValueError::InvalidKey`](crate::ValueError::InvalidKey).
    pub fn at<Q: AsKey<K> + ?Sized>(self, key: &Q) -> AttributeEntry<F, T> {
        AttributeEntry { map: self.name(), key: MapKey::new(key.to_text()), types: PhantomData }
    }
}

impl<F, K: Key, T> ChannelMap<F, K, T> {
    /// The channel with this key. One that nobody has sent anything to is there as well, and empty.
    ///
    /// A key that cannot be one is refused where the entry is used, with
    /// [`ValueError::InvalidKey`](crate::ValueError::InvalidKey).
    pub fn at<Q: AsKey<K> + ?Sized>(self, key: &Q) -> ChannelEntry<F, T> {
        ChannelEntry { map: self.name(), key: MapKey::new(key.to_text()), types: PhantomData }
    }
}

/// What is written of a map when the key was forgotten. None of it can be called: the bound is there to say so in
/// the words of [`ChannelHandle`], where the compiler alone would look for a method with a similar name.
#[doc(hidden)]
impl<F, K, T> ChannelMap<F, K, T> {
    pub fn one(self) -> OneMessage<F, T>
    where
        Self: ChannelHandle<F>,
    {
        OneMessage::of(self.slot())
    }

    pub fn n(self, count: usize) -> Messages<F, T>
    where
        Self: ChannelHandle<F>,
    {
        Messages::of(self.slot(), count, count)
    }

    pub fn at_least(self, count: usize) -> Messages<F, T>
    where
        Self: ChannelHandle<F>,
    {
        Messages::of(self.slot(), count, usize::MAX)
    }

    pub fn between(self, min: usize, max: usize) -> Messages<F, T>
    where
        Self: ChannelHandle<F>,
    {
        Messages::of(self.slot(), min, max)
    }

    pub fn up_to(self, count: usize) -> Messages<F, T>
    where
        Self: ChannelHandle<F>,
    {
        Messages::of(self.slot(), 0, count)
    }
}
