//! User values as bytes: JSON, made and read here and nowhere else.
//!
//! Self-describing on purpose: a struct may gain a field, and a person can read what is stored.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ids::IdError;

/// Largest encoded value, in bytes, in every direction: inputs, outputs, attributes, messages, answers.
///
/// A value is copied into the journal and held in memory while its run is; bigger things belong in a
/// blob store, with their address as the value.
pub const VALUE_BYTES_MAX: usize = 1024 * 1024;

/// A type that flows can store and pass on: anything owned that serde can write and read.
///
/// There is nothing to implement: derive `Serialize` and `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "this type cannot be stored: a flow's values need `Serialize` and `Deserialize`",
    label = "add `#[derive(serde::Serialize, serde::Deserialize)]` to it, or to the type inside it that lacks them"
)]
// A missing derive is then told in the words above, and once: not as two errors about the traits of serde,
// each with a list of other types that have it. It also does so on the trait, for associated types.
#[expect(
    misplaced_diagnostic_attributes,
    reason = "on a trait it counts for the traits that this one asks for"
)]
#[diagnostic::do_not_recommend]
pub trait Value: Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {}

/// Why a value could not be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The value's own `Serialize` failed, or it has no JSON form.
    #[error("{what} of type `{type_name}` could not be encoded: {reason}")]
    Encode {
        /// What the value is for, in words.
        what: String,
        /// The Rust type.
        type_name: &'static str,
        /// What serde said.
        reason: String,
    },
    /// The stored bytes do not fit the type.
    #[error("{what} does not fit type `{type_name}`: {reason}")]
    Decode {
        /// What the value is, in words.
        what: String,
        /// The Rust type.
        type_name: &'static str,
        /// What serde said, with the place, but without the value: that may be a secret, and reasons are kept and
        /// logged.
        reason: String,
        /// All that serde said, for who has given the value.
        said: Said,
    },
    /// The encoded value is over the limit.
    #[error(
        "{what} of type `{type_name}` takes {bytes} bytes, the limit is {max}: store it elsewhere and pass its address"
    )]
    TooLarge {
        /// What the value is for, in words.
        what: String,
        /// The Rust type.
        type_name: &'static str,
        /// Its encoded size in bytes.
        bytes: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The key of a map's entry cannot be one.
    #[error("an entry of `{map}` cannot have this key: {reason}")]
    InvalidKey {
        /// The map's stored name.
        map: &'static str,
        /// What is wrong with the key.
        reason: IdError,
    },
    /// A stored key does not fit the type of the map's keys.
    #[error("`{map}` has an entry with the key `{key}`, which does not fit type `{type_name}`")]
    UnknownKey {
        /// The map's stored name.
        map: String,
        /// The key's text.
        key: String,
        /// The Rust type of the map's keys.
        type_name: &'static str,
    },
    /// An attribute that was required is not set.
    #[error(
        "attribute `{attribute}` is not set: set it before this handler is called, or read it with `get`, which gives \
         an `Option`"
    )]
    Unset {
        /// The attribute's stored name, with the key if it is an entry of a map.
        attribute: String,
    },
    /// A note cannot have this name.
    #[error("a note cannot have this name: {reason}")]
    InvalidNote {
        /// What is wrong with the name.
        reason: IdError,
    },
    /// A handler notes too much.
    #[error(
        "one call of a handler may note {max} things, and this one notes more: use a stream for many of them"
    )]
    TooManyNotes {
        /// The limit.
        max: usize,
    },
}

/// What serde said about a value, with parts of the value. It is not shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Said(String);

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(left out)")
    }
}

/// Longest text of serde that is kept, in bytes: a type's own `Deserialize` may say anything.
const SAID_BYTES_MAX: usize = 512;

/// What serde said, without the value that it quotes: `invalid type: string \"…\", expected u64` is told as
/// `invalid type: string, expected u64`. What a type's own `Deserialize` says is kept as it is.
fn without_value(said: &str) -> String {
    for (start, words) in
        [("invalid type: ", 1), ("invalid value: ", 1), ("unknown variant ", 0), ("unknown field ", 0)]
    {
        let Some(rest) = said.strip_prefix(start) else { continue };
        // The value itself may have these words, but what is expected has them last.
        let Some((value, expected)) = rest.rsplit_once(", expected ") else {
            return start.trim_end().to_owned();
        };
        let kind = value.find(['`', '"']).map_or(value, |quote| value.split_at(quote).0).trim_end();
        let kind = if words == 0 { "" } else { kind };
        return format!("{}, expected {expected}", format!("{start}{kind}").trim_end());
    }
    said.to_owned()
}

impl ValueError {
    /// The error of a value that does not fit a type.
    pub(crate) fn misfit(type_name: &'static str, said: &str) -> Self {
        let said: String =
            said.char_indices().take_while(|(at, _)| *at < SAID_BYTES_MAX).map(|(_, c)| c).collect();
        let (what, reason) = ("the stored value".to_owned(), without_value(&said));
        Self::Decode { what, type_name, reason, said: Said(said) }
    }

    /// The error in words for a caller who gave `what`.
    pub(crate) fn of_given(&self, what: &str) -> String {
        match self {
            Self::Decode { type_name, said: Said(said), .. } => {
                format!("{what} does not fit type `{type_name}`: {said}")
            }
            other => format!("{what}: {other}"),
        }
    }

    /// The error with what the value is, or was to be: `the value of attribute x`.
    pub(crate) fn of(mut self, value: impl fmt::Display) -> Self {
        if let Self::Encode { what, .. } | Self::Decode { what, .. } | Self::TooLarge { what, .. } = &mut self
        {
            *what = value.to_string();
        }
        self
    }
}

thread_local! {
    /// Where values are encoded, to be copied from there at their size: a value is kept for as long as its run is in
    /// memory, and should take no more than its own bytes.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// What a value is called until its place is known.
const SOME_VALUE: &str = "a value";

/// Bytes that a thread keeps for encoding; larger values are rare.
const SCRATCH_BYTES_MAX: usize = 16 * 1024;

/// The encoded form of `()` and of `None`.
const NULL: &[u8] = b"null";

/// One encoded user value. Its bytes are shared by all copies.
///
/// `None` stands for `null`, and nothing else does, so that steps without an input and flows without an output cost
/// nothing.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Payload(Option<Arc<[u8]>>);

impl Payload {
    /// The encoded form of `()` and of `None`.
    pub const NULL: Self = Self(None);

    /// Encodes `value`.
    ///
    /// # Errors
    ///
    /// [`ValueError::Encode`] if it has no JSON form, [`ValueError::TooLarge`] over [`VALUE_BYTES_MAX`].
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, ValueError> {
        let type_name = std::any::type_name::<T>();
        // Taken, not borrowed: encoding is the user's code, which may encode another value or panic.
        let mut scratch = SCRATCH.take();
        scratch.clear();
        serde_json::to_writer(&mut scratch, value).map_err(|e| ValueError::Encode {
            what: SOME_VALUE.to_owned(),
            type_name,
            reason: e.to_string(),
        })?;
        if scratch.len() > VALUE_BYTES_MAX {
            let (what, bytes) = (SOME_VALUE.to_owned(), scratch.len());
            return Err(ValueError::TooLarge { what, type_name, bytes, max: VALUE_BYTES_MAX });
        }
        let payload = Self::from_stored(&scratch);
        if scratch.capacity() <= SCRATCH_BYTES_MAX {
            SCRATCH.set(scratch);
        }
        Ok(payload)
    }

    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// [`ValueError::Decode`] if the bytes do not fit `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ValueError> {
        serde_json::from_slice(self.as_bytes())
            .map_err(|error| ValueError::misfit(std::any::type_name::<T>(), &error.to_string()))
    }

    /// The payload with these bytes, as read from a store.
    pub fn from_stored(bytes: &[u8]) -> Self {
        Self((bytes != NULL).then(|| bytes.into()))
    }

    /// The encoded bytes: JSON text.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(NULL)
    }

    /// The payload of a list of encoded values: `[a,b]`.
    pub fn list<'a>(items: impl IntoIterator<Item = &'a Payload>) -> Self {
        let mut json = vec![b'['];
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                json.push(b',');
            }
            json.extend_from_slice(item.as_bytes());
        }
        json.push(b']');
        Self(Some(json.into()))
    }

    /// The payload of named values: `{"name":a}`. Names are plain words.
    pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (&'static str, &'a Payload)>) -> Self {
        let mut json = vec![b'{'];
        for (i, (name, value)) in fields.into_iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            json.extend_from_slice(format!("{comma}\"{name}\":").as_bytes());
            json.extend_from_slice(value.as_bytes());
        }
        json.push(b'}');
        Self(Some(json.into()))
    }

    /// The payload of a place and a value: `[1,a]`.
    pub fn indexed(index: usize, value: &Payload) -> Self {
        let mut json = format!("[{index},").into_bytes();
        json.extend_from_slice(value.as_bytes());
        json.push(b']');
        Self(Some(json.into()))
    }

    /// The payload of alternative `index` of a choice: `{"1":a}`.
    pub fn variant(index: usize, value: &Payload) -> Self {
        let mut json = format!("{{\"{index}\":").into_bytes();
        json.extend_from_slice(value.as_bytes());
        json.push(b'}');
        Self(Some(json.into()))
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_BYTES_MAX: usize = 80;
        let bytes = self.as_bytes();
        match bytes.get(..SHOWN_BYTES_MAX) {
            Some(head) => write!(f, "{}… ({} bytes)", String::from_utf8_lossy(head), bytes.len()),
            None => f.write_str(&String::from_utf8_lossy(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_and_none_are_values() {
        assert_eq!(Payload::encode(&()).unwrap(), Payload::NULL);
        assert_eq!(Payload::from_stored(b"null"), Payload::NULL);
        assert_eq!(Payload::NULL.as_bytes(), b"null");
        assert_eq!(Payload::NULL.decode::<Option<u8>>().unwrap(), None);
        Payload::NULL.decode::<()>().unwrap();
    }

    #[test]
    fn a_list_and_a_choice_read_back_as_such() {
        let (one, two) = (Payload::encode(&1).unwrap(), Payload::encode("two").unwrap());
        assert_eq!(Payload::list([&one, &two]).decode::<(u8, String)>().unwrap(), (1, "two".into()));
        assert_eq!(Payload::list([]).decode::<Vec<u8>>().unwrap(), Vec::<u8>::new());
        assert_eq!(Payload::variant(1, &two).as_bytes(), br#"{"1":"two"}"#);
    }

    #[test]
    fn an_oversize_value_names_its_type_size_and_limit() {
        let error = Payload::encode(&"x".repeat(VALUE_BYTES_MAX)).unwrap_err();
        let size = VALUE_BYTES_MAX + 2;
        assert!(matches!(error, ValueError::TooLarge { bytes, max: VALUE_BYTES_MAX, .. } if bytes == size));
    }

    #[test]
    fn the_reason_of_a_misfit_leaves_the_value_out() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        enum Stage {
            Open,
            Paid {
                #[expect(dead_code, reason = "only read")]
                cents: u8,
            },
        }
        let secret = "secret, expected `x` \"";
        let rows = [
            (
                Payload::encode(secret).unwrap().decode::<u64>().map(drop),
                "invalid type: string, expected u64 at",
            ),
            (
                Payload::encode(&-77).unwrap().decode::<u64>().map(drop),
                "invalid value: integer, expected u64 at",
            ),
            (
                Payload::encode(&77.5).unwrap().decode::<u8>().map(drop),
                "invalid type: floating point, expected u8 at",
            ),
            (Payload::encode(secret).unwrap().decode::<Stage>().map(drop), "unknown variant, expected"),
            (
                Payload::from_stored(br#"{"Paid":{"secret":77}}"#).decode::<Stage>().map(drop),
                "unknown field, expected `cents` at",
            ),
            (Payload::encode(&"secret".repeat(10_000)).unwrap().decode::<char>().map(drop), "invalid value:"),
            (
                Payload::encode(&vec![77; 3]).unwrap().decode::<u64>().map(drop),
                "invalid type: sequence, expected u64",
            ),
        ];
        for (result, text) in rows {
            let error = result.unwrap_err();
            let told = error.to_string();
            assert!(told.contains(text), "{told}");
            for shown in [told, format!("{error:?}")] {
                assert!(!shown.contains("secret") && !shown.contains("77"), "{shown}");
                assert!(shown.len() < 2 * SAID_BYTES_MAX, "{shown}");
            }
        }
        let given = Payload::encode(secret).unwrap().decode::<u64>().unwrap_err().of_given("the argument");
        assert!(given.contains("secret"), "who gave it may see it: {given}");
        assert!(matches!(Stage::Open, Stage::Open));
    }

    #[test]
    fn a_value_that_does_not_fit_says_where() {
        let error = Payload::encode("text").unwrap().decode::<u64>().unwrap_err();
        assert!(error.to_string().contains("u64"), "{error}");
        assert!(error.to_string().contains("line 1 column"), "{error}");
    }
}
