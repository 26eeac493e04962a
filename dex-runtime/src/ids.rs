//! The names and numbers that tell flows, runs and step executions apart.
//!
//! Each type is checked when it is made, so code that holds one never asks again.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use uuid::Uuid;

use crate::time::Timestamp;

/// Longest flow id, in bytes. Long enough for composed business keys; short enough to be a store key.
pub const FLOW_ID_BYTES_MAX: usize = 512;

/// Longest stored name of a flow, step, handle or RPC, in bytes.
pub const NAME_BYTES_MAX: usize = 128;

/// Longest key of a map entry, in bytes. It stands in a store record beside its map's name.
pub const MAP_KEY_BYTES_MAX: usize = 512;

/// Why a text cannot be an id or a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The text is empty.
    #[error("{what} is empty: give it at least one character")]
    Empty {
        /// What the text was meant to be, such as `flow id`.
        what: &'static str,
    },
    /// The text is longer than the limit.
    #[error("{what} has {bytes} bytes, the limit is {max}")]
    TooLong {
        /// What the text was meant to be.
        what: &'static str,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The text contains a control character.
    #[error("{what} contains the control character U+{code:04X} at byte {at}: use printable text")]
    Control {
        /// What the text was meant to be.
        what: &'static str,
        /// The character's code point.
        code: u32,
        /// Where it stands.
        at: usize,
    },
}

fn check(what: &'static str, text: &str, max: usize) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty { what });
    }
    if text.len() > max {
        return Err(IdError::TooLong { what, bytes: text.len(), max });
    }
    // Text of white space only cannot be told from an empty one in any log or list.
    if text.trim().is_empty() && !text.chars().any(char::is_control) {
        return Err(IdError::Empty { what });
    }
    match text.char_indices().find(|(_, c)| c.is_control()) {
        Some((at, c)) => Err(IdError::Control { what, code: u32::from(c), at }),
        None => Ok(()),
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $max:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` and keeps it.
            ///
            /// # Errors
            ///
            /// [`IdError`] if it is empty or white space only, too long, or contains a control character.
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
                let text = text.as_ref();
                check($what, text, $max)?;
                Ok(Self(Arc::from(text)))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = IdError;

            fn try_from(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }
    };
}

text_id! {
    /// What the caller calls a run: 1–512 bytes of text without control characters.
    ///
    /// One flow id has at most one open run in a store, whatever the flow's type.
    ///
    /// ```
    /// use dex_runtime::FlowId;
    ///
    /// assert_eq!(FlowId::new("order-17")?.as_str(), "order-17");
    /// assert!(FlowId::new("").is_err());
    /// assert!(FlowId::new("a\nb").is_err());
    /// # Ok::<(), dex_runtime::IdError>(())
    /// ```
    FlowId, "flow id", FLOW_ID_BYTES_MAX
}

text_id! {
    /// The stored name of a flow, a step, a handle or an RPC: 1–128 bytes of text without control characters.
    ///
    /// A name is what ties stored runs to code, so it stays when the identifier in the code changes.
    Name, "name", NAME_BYTES_MAX
}

text_id! {
    /// The key of one entry of an attribute or channel map: 1–512 bytes of text without control characters.
    MapKey, "map key", MAP_KEY_BYTES_MAX
}

/// Where a value or a queue of a run lives: the handle's name, and the key if the handle is a map.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The handle's stored name.
    pub name: Name,
    /// The entry, for a map.
    pub key: Option<MapKey>,
}

impl Slot {
    /// The slot of a handle that is not a map.
    pub fn single(name: Name) -> Self {
        Self { name, key: None }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            None => write!(f, "{}", self.name),
            Some(key) => write!(f, "{}[{key}]", self.name),
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Old names of attributes and channels of a flow, each with its name now.
pub type Renamed = BTreeMap<Name, Name>;

/// Makes run ids that sort in the order of asking, also within a millisecond.
#[derive(Debug, Default)]
pub(crate) struct RunIds(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    millis: u64,
    /// The low bits of the last id.
    number: u64,
}

impl RunIds {
    /// An id for a run that starts at `now`.
    pub(crate) fn next(&self, now: Timestamp) -> RunId {
        let millis = RunId::millis(now);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = if last.millis == millis { last.number.wrapping_add(1) } else { draw() };
        *last = Last { millis, number };
        RunId::of(millis, number)
    }
}

/// A random number of 60 bits, so that adding to it does not overflow the 62 bits that an id has for it.
fn draw() -> u64 {
    let drawn = Uuid::now_v7().as_u128();
    u64::try_from(drawn & (u128::MAX >> 68)).unwrap_or(0)
}

/// What the engine calls a run: a `UUIDv7`, so that the store's order is the order of starting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId([u8; 16]);

/// A table by run. The engine makes the ids itself, so nobody can have many of them fall together.
pub(crate) type RunMap<V> = FxHashMap<RunId, V>;

impl RunId {
    /// A new id for a run that starts at `now`.
    pub fn generate(now: Timestamp) -> Self {
        Self::of(Self::millis(now), draw())
    }

    fn millis(now: Timestamp) -> u64 {
        u64::try_from(now.as_micros() / 1_000).unwrap_or(0)
    }

    fn of(millis: u64, number: u64) -> Self {
        let mut low = [0; 10];
        low[2..].copy_from_slice(&number.to_be_bytes());
        Self(uuid::Builder::from_unix_timestamp_millis(millis, &low).into_uuid().into_bytes())
    }

    /// The id with these bytes, as read from a store.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The id that is written like this.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Uuid::parse_str(text).ok().map(|id| Self(id.into_bytes()))
    }

    /// The id's bytes, in the order in which ids sort.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Uuid::from_bytes(self.0), f)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The place of a step execution in its run, counted from 1 in the order of scheduling.
///
/// People see `<step>-<n>` (n from 1 for each step); this is the short form that events and keys use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionNo(pub u64);

/// One try of a step execution's current method.
///
/// The engine refuses a report whose attempt is not the current one, so a late or repeated report counts
/// for nothing, however late it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// The step execution.
    pub execution: ExecutionNo,
    /// Counts up with every hand-out of the execution, over both of its methods, from 1.
    pub number: u32,
}

/// Which opening of the store something belongs to; each opening has a higher one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn run_ids_of_one_millisecond_sort_in_the_order_of_asking() {
        let (ids, now) = (RunIds::default(), Timestamp::from_micros(1_893_456_000_000_000));
        let made: Vec<_> = (0..1_000).map(|_| ids.next(now)).collect();
        assert!(made.is_sorted_by(|one, next| one < next));
        let later = ids.next(now.saturating_add(Duration::from_millis(1)));
        assert!(made.iter().all(|id| *id < later));
        assert_ne!(RunIds::default().next(now), made[0]);
    }

    #[test]
    fn a_run_id_is_a_uuid_of_version_7_with_the_time_of_the_clock() {
        let now = Timestamp::from_micros(1_893_456_000_123_000);
        let id: Uuid = RunIds::default().next(now).to_string().parse().unwrap();
        assert_eq!(id.get_version_num(), 7);
        assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
        assert_eq!(id.get_timestamp().unwrap().to_unix(), (1_893_456_000, 123_000_000));
    }
}
