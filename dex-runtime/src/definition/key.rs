//! Keys of map entries: typed for the flow, text in the store.

use std::fmt::Display;
use std::str::FromStr;

use uuid::Uuid;

use super::flow::Keyword;
use crate::ids::MapKey;
use crate::value::ValueError;

/// The key of an entry of an [`AttributeMap`](super::AttributeMap) or a [`ChannelMap`](super::ChannelMap).
///
/// Text, integers, `bool`, `char`, `Uuid` and pairs of keys are keys, and so is an enum with
/// `#[derive(Keyword, PartialEq, Eq, PartialOrd, Ord)]`. Their order is the one in which entries are listed.
///
/// A type of your own says how it looks as text. It must read back from its text as the same key, and it should
/// have one text only.
///
/// ```
/// use dex_runtime::definition::Key;
///
/// #[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
/// struct Seat { row: u32, letter: char }
///
/// impl Key for Seat {
///     fn encode(&self) -> String {
///         format!("{}{}", self.row, self.letter)
///     }
///
///     fn decode(text: &str) -> Option<Self> {
///         let letter = text.chars().last()?;
///         let row = text.strip_suffix(letter)?.parse().ok()?;
///         Some(Self { row, letter })
///     }
/// }
///
/// assert_eq!(Seat::decode(&Seat { row: 17, letter: 'C' }.encode()), Some(Seat { row: 17, letter: 'C' }));
/// ```
///
/// A key whose text is empty or white space only, longer than 512 bytes, or has control characters in it is
/// refused where its entry is used, with [`ValueError::InvalidKey`](crate::ValueError::InvalidKey).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a map",
    label = "not a key",
    note = "keys are text, integers, `bool`, `char`, `Uuid`, pairs of them, and enums of unit variants with \
            `#[derive(Keyword, PartialEq, Eq, PartialOrd, Ord)]`; other types implement `dex::Key`"
)]
pub trait Key: Ord + Send + Sync + 'static {
    /// The key's text.
    fn encode(&self) -> String;

    /// The key with this text; `None` if there is none.
    fn decode(text: &str) -> Option<Self>
    where
        Self: Sized;
}

/// A key of type `K`, or what stands for one: `str` for a `String`.
#[diagnostic::on_unimplemented(
    message = "the keys of this map are `{K}`, this one is `{Self}`",
    label = "not a `{K}`"
)]
pub trait AsKey<K> {
    /// The key's text.
    fn to_text(&self) -> String;
}

#[diagnostic::do_not_recommend]
impl<K: Key> AsKey<K> for K {
    fn to_text(&self) -> String {
        self.encode()
    }
}

#[diagnostic::do_not_recommend]
impl AsKey<String> for str {
    fn to_text(&self) -> String {
        self.to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl AsKey<String> for &str {
    fn to_text(&self) -> String {
        (*self).to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl Key for String {
    fn encode(&self) -> String {
        self.clone()
    }

    fn decode(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

#[diagnostic::do_not_recommend]
impl<K: Keyword + Ord + Send + Sync + 'static> Key for K {
    fn encode(&self) -> String {
        self.keyword().to_owned()
    }

    fn decode(text: &str) -> Option<Self> {
        K::from_keyword(text)
    }
}

macro_rules! displayed {
    ($($key:ty),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Key for $key {
                fn encode(&self) -> String {
                    self.to_string()
                }

                fn decode(text: &str) -> Option<Self> {
                    parse(text)
                }
            }
        )*
    };
}

displayed!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, Uuid);

/// The key that looks exactly like this: `+7` is not how 7 looks, and would be a second entry for it.
fn parse<K: FromStr + Display>(text: &str) -> Option<K> {
    let key: K = text.parse().ok()?;
    (key.to_string() == text).then_some(key)
}

/// Between the texts of the two keys of a pair.
const BETWEEN: char = '/';

/// Before what would be mistaken for something else.
const ESCAPE: char = '\\';

#[diagnostic::do_not_recommend]
impl<A: Key, B: Key> Key for (A, B) {
    fn encode(&self) -> String {
        let mut text = escaped(&self.0.encode());
        text.push(BETWEEN);
        text.push_str(&escaped(&self.1.encode()));
        text
    }

    fn decode(text: &str) -> Option<Self> {
        let mut parts = vec![String::new()];
        let mut chars = text.chars();
        while let Some(next) = chars.next() {
            match next {
                BETWEEN => parts.push(String::new()),
                ESCAPE => parts.last_mut()?.push(chars.next()?),
                other => parts.last_mut()?.push(other),
            }
        }
        let [first, second] = parts.as_slice() else { return None };
        Some((A::decode(first)?, B::decode(second)?))
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for next in text.chars() {
        if next == BETWEEN || next == ESCAPE {
            escaped.push(ESCAPE);
        }
        escaped.push(next);
    }
    escaped
}

/// Entries with their keys, in the order of the keys.
pub(crate) fn typed_keys<K: Key, V, T>(
    map: &str,
    entries: impl IntoIterator<Item = (MapKey, V)>,
    value: impl Fn(V) -> Result<T, ValueError>,
) -> Result<Vec<(K, T)>, ValueError> {
    let typed = |(text, stored): (MapKey, V)| {
        let key = K::decode(text.as_str()).ok_or_else(|| ValueError::UnknownKey {
            map: map.to_owned(),
            key: text.to_string(),
            type_name: std::any::type_name::<K>(),
        })?;
        Ok((key, value(stored)?))
    };
    let mut typed = entries.into_iter().map(typed).collect::<Result<Vec<_>, ValueError>>()?;
    typed.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(typed)
}

/// A [`Key`], asked for by generated code: as for values, a path through a trait is told in few lines.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a map",
    label = "not a key",
    note = "keys are text, integers, `bool`, `char`, `Uuid`, pairs of them, and enums of unit variants with \
            `#[derive(Keyword, PartialEq, Eq, PartialOrd, Ord)]`; other types implement `dex::Key`"
)]
pub trait StoredKey {
    /// Whether `text` is the text of a key of this type.
    fn fits(text: &str) -> bool;
}

#[diagnostic::do_not_recommend]
impl<K: Key> StoredKey for K {
    fn fits(text: &str) -> bool {
        K::decode(text).is_some_and(|key| key.encode() == text)
    }
}

/// Says whether a text is the text of a key.
pub type KeyFits = fn(&str) -> bool;

/// Whether `text` is a key of the handle at `place` of a flow's table; `None` if it is no map.
pub fn key_fits_at(table: &[Option<KeyFits>], place: usize, text: &str) -> Option<bool> {
    table.get(place).copied().flatten().map(|fits| fits(text))
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    fn there_and_back<K: Key + Debug>(key: K, text: &str) {
        assert_eq!(key.encode(), text);
        assert_eq!(K::decode(text), Some(key));
        assert!(K::fits(text));
    }

    #[test]
    fn keys_read_back_from_their_text() {
        there_and_back(7_u32, "7");
        there_and_back(i64::MIN, "-9223372036854775808");
        there_and_back(true, "true");
        there_and_back('ß', "ß");
        there_and_back("Ada L.".to_owned(), "Ada L.");
        there_and_back(Uuid::nil(), "00000000-0000-0000-0000-000000000000");
        there_and_back(("a/b".to_owned(), 7_u8), "a\\/b/7");
        there_and_back((("a\\".to_owned(), "/".to_owned()), 1_u8), "a\\\\\\\\\\/\\\\\\//1");
    }

    #[test]
    fn a_key_has_one_text() {
        for text in ["+7", "07", "7 ", "", "256", "seven"] {
            assert!(!u8::fits(text), "{text}");
        }
        assert!(!Uuid::fits("00000000000000000000000000000000"));
        for text in ["a", "a/1/2", "a\\", "\\a/1"] {
            assert!(!<(String, u8)>::fits(text), "{text}");
        }
    }
}
