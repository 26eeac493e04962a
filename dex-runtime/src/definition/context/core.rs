//! What all contexts share: the run as the handler sees it, and what it has staged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::engine::{MapKind, Note, Read, Reads, Staged, View, attribute_keys, channel_keys, numbers};
use crate::ids::{MapKey, Name, Slot};
use crate::value::{Payload, Value, ValueError};

/// What kind of thing was read, and of what: each is noted once, since the view does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Attribute,
    Keys(MapKind),
    Size,
    Message(u64),
    Messages,
}

/// Notes of one call. They stay in the run's history for ever; what is more belongs in a stream.
const NOTES_MAX: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) view: View,
    pub(crate) staged: Staged,
    /// The last write of each attribute that is in `staged`.
    written: BTreeMap<Slot, Option<Payload>>,
    /// The messages in `staged`, by channel.
    sent: BTreeMap<Slot, Vec<Payload>>,
    /// What was read of the view. Behind a lock since reading takes `&self`: a query context is shared, and a
    /// handler may read from two branches of a join.
    reads: Mutex<BTreeMap<(Of, Slot), Read>>,
}

impl Core {
    pub(crate) fn new(view: View) -> Self {
        let (written, sent) = (BTreeMap::new(), BTreeMap::new());
        Self { view, staged: Staged::default(), written, sent, reads: Mutex::default() }
    }

    pub(crate) fn get<T: Value>(&self, slot: &Slot) -> Result<Option<T>, ValueError> {
        let decoded = self.payload(slot).map(|value| value.decode()).transpose();
        decoded.map_err(|error| error.of(format_args!("the stored value of attribute `{slot}`")))
    }

    pub(crate) fn require<T: Value>(&self, slot: &Slot) -> Result<T, ValueError> {
        self.get(slot)?.ok_or_else(|| ValueError::Unset { attribute: slot.to_string() })
    }

    /// The encoded value. The handler's own writes come first.
    fn payload(&self, slot: &Slot) -> Option<Payload> {
        if let Some(written) = self.written.get(slot) {
            return written.clone();
        }
        let stored = self.view.attributes.get(slot);
        self.note(Of::Attribute, slot, || {
            Read::Attribute(slot.clone(), stored.map(|attribute| attribute.version))
        });
        stored.map(|attribute| attribute.value.clone())
    }

    /// The keys of a map, in the order of their texts.
    pub(crate) fn keys(&self, map: &Name, kind: MapKind) -> BTreeSet<MapKey> {
        let mut keys: BTreeSet<MapKey> = match kind {
            MapKind::Attribute => {
                attribute_keys(&self.view.attributes, map).map(|(key, _)| key.clone()).collect()
            }
            MapKind::Channel => channel_keys(&self.view.channels, map).map(|(key, _)| key.clone()).collect(),
        };
        let whole = Slot::single(map.clone());
        self.note(Of::Keys(kind), &whole, || {
            let seen = keys.iter().cloned().collect();
            Read::Keys { map: map.clone(), kind, seen }
        });
        match kind {
            MapKind::Attribute => {
                for (key, written) in of_map(&self.written, &whole) {
                    if written.is_some() {
                        keys.insert(key.clone());
                    } else {
                        keys.remove(key);
                    }
                }
            }
            MapKind::Channel => {
                if !self.staged.deleted.is_empty() {
                    let is_left = |key: &MapKey| {
                        let slot = Slot { name: map.clone(), key: Some(key.clone()) };
                        self.stored(&slot).next().is_some()
                    };
                    keys.retain(is_left);
                }
                keys.extend(of_map(&self.sent, &whole).map(|(key, _)| key.clone()));
            }
        }
        keys
    }

    /// The entries of an attribute map, in the order of the keys' texts.
    pub(crate) fn entries(&self, map: &Name) -> Vec<(MapKey, Payload)> {
        let keys = self.keys(map, MapKind::Attribute).into_iter();
        keys.filter_map(|key| {
            let slot = Slot { name: map.clone(), key: Some(key.clone()) };
            Some((key, self.payload(&slot)?))
        })
        .collect()
    }

    /// How many messages nobody has taken.
    pub(crate) fn size(&self, slot: &Slot) -> usize {
        let stored = self.view.channels.get(slot).map_or(0, |channel| channel.queue.len());
        self.note(Of::Size, slot, || Read::Size(slot.clone(), stored));
        let deleted = self.staged.deleted.range((slot.clone(), 0)..=(slot.clone(), u64::MAX)).count();
        stored - deleted + self.sent.get(slot).map_or(0, Vec::len)
    }

    /// The messages that nobody has taken, oldest first.
    pub(crate) fn messages<T: Value>(&self, slot: &Slot) -> Result<Vec<T>, ValueError> {
        self.note_messages(slot);
        let stored = self.stored(slot).map(|(_, message)| message);
        let sent = self.sent.get(slot).into_iter().flatten();
        let decoded: Result<_, _> = stored.chain(sent).map(Payload::decode).collect();
        decoded.map_err(|error| of_message(error, slot))
    }

    /// As [`messages`](Self::messages), each with its number. What the handler itself published has none yet.
    pub(crate) fn numbered_messages<T: Value>(&self, slot: &Slot) -> Result<Vec<(u64, T)>, ValueError> {
        self.note_messages(slot);
        let decoded: Result<_, _> =
            self.stored(slot).map(|(number, message)| Ok((number, message.decode()?))).collect();
        decoded.map_err(|error| of_message(error, slot))
    }

    fn note_messages(&self, slot: &Slot) {
        let stored = self.view.channels.get(slot).map(|channel| &channel.queue);
        self.note(Of::Messages, slot, || {
            Read::Messages(slot.clone(), stored.map(numbers).unwrap_or_default())
        });
    }

    /// The messages of the view that the handler has not deleted, with their numbers.
    fn stored<'a>(&'a self, slot: &'a Slot) -> impl Iterator<Item = (u64, &'a Payload)> {
        let stored = self.view.channels.get(slot).map(|channel| &channel.queue);
        let deleted = &self.staged.deleted;
        let is_left = move |number: u64| deleted.is_empty() || !deleted.contains(&(slot.clone(), number));
        let stored = stored.into_iter().flatten().map(|(number, message)| (*number, message));
        stored.filter(move |(number, _)| is_left(*number))
    }

    fn note(&self, of: Of, slot: &Slot, read: impl FnOnce() -> Read) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.entry((of, slot.clone())).or_insert_with(read);
    }

    pub(crate) fn set<T: Value>(&mut self, slot: Slot, value: &T) -> Result<(), ValueError> {
        let value = Payload::encode(value)
            .map_err(|error| error.of(format_args!("the value for attribute `{slot}`")))?;
        self.write(slot, Some(value));
        Ok(())
    }

    pub(crate) fn delete(&mut self, slot: Slot) {
        self.write(slot, None);
    }

    fn write(&mut self, slot: Slot, value: Option<Payload>) {
        self.written.insert(slot.clone(), value.clone());
        self.staged.attributes.push((slot, value));
    }

    pub(crate) fn publish<T: Value>(&mut self, slot: Slot, message: &T) -> Result<(), ValueError> {
        let message = Payload::encode(message)
            .map_err(|error| error.of(format_args!("the message for channel `{slot}`")))?;
        self.sent.entry(slot.clone()).or_default().push(message.clone());
        self.staged.messages.push((slot, message));
        Ok(())
    }

    /// Takes a message out of a channel. Gives whether it was there.
    pub(crate) fn delete_message(&mut self, slot: Slot, number: u64) -> bool {
        let is_there =
            self.view.channels.get(&slot).is_some_and(|channel| channel.queue.contains_key(&number));
        self.note(Of::Message(number), &slot, || Read::Message(slot.clone(), number, is_there));
        is_there && self.staged.deleted.insert((slot, number))
    }

    /// Notes something for those who read the history.
    pub(crate) fn add_note<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<(), ValueError> {
        let name = Name::new(name).map_err(|reason| ValueError::InvalidNote { reason })?;
        if self.staged.notes.len() >= NOTES_MAX {
            return Err(ValueError::TooManyNotes { max: NOTES_MAX });
        }
        let value = Payload::encode(value).map_err(|error| error.of(format_args!("the note `{name}`")))?;
        self.staged.notes.push(Note { name, value });
        Ok(())
    }

    /// What was staged, and what was read.
    pub(crate) fn into_parts(self) -> (Staged, Reads) {
        let reads = self.reads.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.staged, reads.into_values().collect())
    }
}

/// The error of a stored message that does not fit, with where it is.
fn of_message(error: ValueError, slot: &Slot) -> ValueError {
    error.of(format_args!("a stored message of channel `{slot}`"))
}

/// What is written of the entries of the map whose own slot is `whole`.
fn of_map<'a, V>(slots: &'a BTreeMap<Slot, V>, whole: &'a Slot) -> impl Iterator<Item = (&'a MapKey, &'a V)> {
    let of_map = slots.range(whole..).take_while(|(slot, _)| slot.name == whole.name);
    of_map.filter_map(|(slot, value)| Some((slot.key.as_ref()?, value)))
}
