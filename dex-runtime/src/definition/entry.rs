//! Entries of maps: a handle with a key.

use std::fmt;
use std::marker::PhantomData;

use super::handle::{AttributeMap, ChannelMap, stored};
use super::key::{AsKey, Key};
use crate::ids::{IdError, MapKey, Slot};
use crate::value::ValueError;

macro_rules! entry {
    ($(#[$doc:meta])* $name:ident of $map:ident; $(#[$at:meta])*) => {
        $(#[$doc])*
        pub struct $name<F, T> {
            map: &'static str,
            key: Result<MapKey, IdError>,
            types: PhantomData<fn() -> (F, T)>,
        }

        impl<F, K: Key, T> $map<F, K, T> {
            $(#[$at])*
            ///
            /// A key that cannot be one is refused where the entry is used, with
            /// [`ValueError::InvalidKey`](crate::ValueError::InvalidKey).
            pub fn at<Q: AsKey<K> + ?Sized>(self, key: &Q) -> $name<F, T> {
                $name { map: self.name(), key: MapKey::new(key.to_text()), types: PhantomData }
            }
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
    AttributeEntry of AttributeMap;
    /// The entry with this key, whether it has a value or not.
}

entry! {
    /// One entry of a channel map; made by [`ChannelMap::at`]. It stands wherever a channel does.
    ChannelEntry of ChannelMap;
    /// The channel with this key. Those that nobody has sent anything to are there as well, and empty.
}
