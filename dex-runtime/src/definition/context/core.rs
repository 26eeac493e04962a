//! What all contexts share: the run as the handler sees it, and what it has staged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::engine::{MapKind, Read, Reads, Staged, View, attribute_keys, channel_keys, numbers};
use crate::ids::{MapKey, Name, Slot};
use crate::value::{Payload, Value, ValueError};

/// What kind of thing was read, and of what: each is noted once, since the view does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Attribute,
    Keys(MapKind),
    Size,
    Messages,
}

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
            MapKind::Channel => keys.extend(of_map(&self.sent, &whole).map(|(key, _)| key.clone())),
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
        stored + self.sent.get(slot).map_or(0, Vec::len)
    }

    /// The messages that nobody has taken, oldest first.
    pub(crate) fn messages<T: Value>(&self, slot: &Slot) -> Result<Vec<T>, ValueError> {
        let stored = self.view.channels.get(slot).map(|channel| &channel.queue);
        self.note(Of::Messages, slot, || {
            Read::Messages(slot.clone(), stored.map(numbers).unwrap_or_default())
        });
        let stored = stored.into_iter().flatten().map(|(_, message)| message);
        let sent = self.sent.get(slot).into_iter().flatten();
        let decoded: Result<_, _> = stored.chain(sent).map(Payload::decode).collect();
        decoded.map_err(|error: ValueError| error.of(format_args!("a stored message of channel `{slot}`")))
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

    /// What was staged, and what was read.
    pub(crate) fn into_parts(self) -> (Staged, Reads) {
        let reads = self.reads.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.staged, reads.into_values().collect())
    }
}

/// What is written of the entries of the map whose own slot is `whole`.
fn of_map<'a, V>(slots: &'a BTreeMap<Slot, V>, whole: &'a Slot) -> impl Iterator<Item = (&'a MapKey, &'a V)> {
    let of_map = slots.range(whole..).take_while(|(slot, _)| slot.name == whole.name);
    of_map.filter_map(|(slot, value)| Some((slot.key.as_ref()?, value)))
}
