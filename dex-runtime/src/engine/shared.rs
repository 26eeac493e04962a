//! A sorted map that can be held on to while it goes on changing.
//!
//! A handler sees its run as it was when it was called, and the run goes on meanwhile. So a copy must cost
//! next to nothing, and a write beside a copy must not copy the whole: a run may hold 100,000 messages. The
//! entries are in chunks; a copy shares all of them, and a write to a shared map copies one chunk and the list
//! of chunks. A map that nobody shares is written in place.

use std::fmt;
use std::ops::Index;
use std::slice;
use std::sync::Arc;

/// Entries of a chunk. A write beside a copy clones so many at most, and 100,000 entries are about 1,600
/// chunks, whose list is cloned as well: both take a few microseconds.
const CHUNK_ENTRIES_MAX: usize = 64;

type Chunk<K, V> = Arc<Vec<(K, V)>>;

/// A sorted map whose copies share what they have in common.
pub struct SharedMap<K, V> {
    /// `None` until the first entry: most channels and many runs never have one. No chunk is empty, but for
    /// the only one.
    chunks: Option<Arc<Vec<Chunk<K, V>>>>,
    len: usize,
}

/// Where an entry is, or where it would be: its chunk, its place in there, and whether it is there.
struct Place {
    chunk: usize,
    at: usize,
    found: bool,
}

impl<K, V> SharedMap<K, V> {
    /// A map with no entries.
    pub const fn new() -> Self {
        Self { chunks: None, len: 0 }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries, in the order of the keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { chunks: self.list().iter(), entries: [].iter(), left: self.len }
    }

    /// The keys, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// The values, in the order of the keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    fn list(&self) -> &[Chunk<K, V>] {
        self.chunks.as_ref().map_or(&[], |chunks| chunks.as_slice())
    }
}

impl<K: Ord, V> SharedMap<K, V> {
    fn place(&self, key: &K) -> Place {
        let chunks = self.list();
        let before = |chunk: &Chunk<K, V>| chunk.last().is_some_and(|(last, _)| last < key);
        // What is new is most often the last.
        let chunk = match chunks.last() {
            Some(last) if before(last) => chunks.len() - 1,
            _ => chunks.partition_point(before),
        };
        let entries = chunks.get(chunk).map_or(&[][..], |chunk| chunk.as_slice());
        match entries.binary_search_by(|(known, _)| known.cmp(key)) {
            Ok(at) => Place { chunk, at, found: true },
            Err(at) => Place { chunk, at, found: false },
        }
    }

    fn entry(&self, place: &Place) -> Option<&(K, V)> {
        self.list().get(place.chunk)?.get(place.at).filter(|_| place.found)
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entry(&self.place(key)).map(|(_, value)| value)
    }

    /// Whether the key has a value.
    pub fn contains_key(&self, key: &K) -> bool {
        self.place(key).found
    }

    /// The entries from `key` on.
    pub fn range_from(&self, key: &K) -> Iter<'_, K, V> {
        let Place { chunk, at, .. } = self.place(key);
        let (passed, rest) = self.list().split_at(chunk.min(self.list().len()));
        let mut chunks = rest.iter();
        let entries = chunks.next().and_then(|chunk| chunk.get(at..)).unwrap_or_default();
        let left = self.len - passed.iter().map(|chunk| chunk.len()).sum::<usize>() - at;
        Iter { chunks, entries: entries.iter(), left }
    }

    /// The first entry from `key` on.
    pub fn first_from(&self, key: &K) -> Option<(&K, &V)> {
        let Place { chunk, at, .. } = self.place(key);
        let here = self.list().get(chunk)?.get(at);
        let (key, value) = here.or_else(|| self.list().get(chunk + 1)?.first())?;
        Some((key, value))
    }

    /// The entry with the lowest key.
    pub fn first(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// The entry with the highest key.
    pub fn last(&self) -> Option<(&K, &V)> {
        self.list().last()?.last().map(|(key, value)| (key, value))
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    fn chunks_mut(&mut self) -> &mut Vec<Chunk<K, V>> {
        Arc::make_mut(self.chunks.get_or_insert_default())
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let Place { chunk, at, found } = self.place(key);
        if !found {
            return None;
        }
        let chunk = Arc::make_mut(self.chunks_mut().get_mut(chunk)?);
        chunk.get_mut(at).map(|(_, value)| value)
    }

    /// The value of a key, which is the default one if it had none.
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "it was put there just before")]
    pub fn get_or_default(&mut self, key: &K) -> &mut V
    where
        V: Default,
    {
        if !self.contains_key(key) {
            self.insert(key.clone(), V::default());
        }
        self.get_mut(key).expect("it was put there just before")
    }

    /// Gives the key this value, and the value that it had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Place { chunk, at, found } = self.place(&key);
        self.len += usize::from(!found);
        let chunks = self.chunks_mut();
        let Some(entries) = chunks.get_mut(chunk).map(Arc::make_mut) else {
            chunks.push(Arc::new(vec![(key, value)]));
            return None;
        };
        if found {
            return entries.get_mut(at).map(|(_, known)| std::mem::replace(known, value));
        }
        if entries.len() < CHUNK_ENTRIES_MAX {
            entries.insert(at, (key, value));
            return None;
        }
        // A full chunk to which something is added at its end stays full: queues only grow there.
        let mut rest = entries.split_off(if at == entries.len() { at } else { entries.len() / 2 });
        match at.checked_sub(entries.len()) {
            Some(at) => rest.insert(at, (key, value)),
            None => entries.insert(at, (key, value)),
        }
        chunks.insert(chunk + 1, Arc::new(rest));
        None
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.place(key);
        place.found.then(|| self.take_out(&place))?.map(|(_, value)| value)
    }

    /// Takes the entry with the lowest key out.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (self.len > 0).then(|| self.take_out(&Place { chunk: 0, at: 0, found: true }))?
    }

    fn take_out(&mut self, place: &Place) -> Option<(K, V)> {
        let chunks = self.chunks_mut();
        let entries = Arc::make_mut(chunks.get_mut(place.chunk)?);
        let taken = entries.remove(place.at);
        if entries.is_empty() && chunks.len() > 1 {
            chunks.remove(place.chunk);
        }
        self.len -= 1;
        Some(taken)
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let chunks = self.chunks.as_mut().map(|chunks| Arc::make_mut(chunks).iter_mut());
        let entries = chunks.into_iter().flatten().flat_map(|chunk| Arc::make_mut(chunk).iter_mut());
        entries.map(|(_, value)| value)
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), len: self.len }
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where chunks end makes no difference.
impl<K: PartialEq, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for SharedMap<K, V> {}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SharedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K: Ord, V> Index<&K> for SharedMap<K, V> {
    type Output = V;

    #[expect(clippy::expect_used, reason = "as in every other map")]
    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the map has this key")
    }
}

impl<'a, K, V> IntoIterator for &'a SharedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

/// The entries of a [`SharedMap`], in the order of the keys.
#[derive(Debug)]
pub struct Iter<'a, K, V> {
    chunks: slice::Iter<'a, Chunk<K, V>>,
    entries: slice::Iter<'a, (K, V)>,
    left: usize,
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.entries.next() {
                self.left -= 1;
                return Some((key, value));
            }
            self.entries = self.chunks.next()?.iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_sorted_map_and_its_copies_stay_as_they_were(
            writes in prop::collection::vec((0..400_u32, any::<bool>()), 0..1200),
            copied_at in 0..1200_usize,
        ) {
            let (mut map, mut model) = (SharedMap::new(), BTreeMap::new());
            let mut copies = None;
            for (n, (key, sets)) in writes.into_iter().enumerate() {
                if n == copied_at {
                    copies = Some((map.clone(), model.clone()));
                }
                if sets {
                    prop_assert_eq!(map.insert(key, n), model.insert(key, n));
                } else {
                    prop_assert_eq!(map.remove(&key), model.remove(&key));
                }
                prop_assert_eq!(map.len(), model.len());
                prop_assert_eq!(map.get(&key), model.get(&key));
            }
            for (map, model) in copies.into_iter().chain([(map, model)]) {
                prop_assert!(map.iter().eq(model.iter()));
                prop_assert_eq!(map.iter().len(), model.len());
                for from in [0, 7, 200, 399, 400] {
                    let rest = map.range_from(&from);
                    prop_assert_eq!(rest.len(), model.range(from..).count());
                    prop_assert!(rest.eq(model.range(from..)));
                    prop_assert_eq!(map.first_from(&from), model.range(from..).next());
                }
                prop_assert_eq!(&map, &model.clone().into_iter().collect());
                prop_assert_eq!(map.last(), model.last_key_value());
                let mut drained = map.clone();
                let taken: Vec<_> = std::iter::from_fn(|| drained.pop_first()).collect();
                prop_assert!(taken.into_iter().eq(model));
            }
        }
    }

    /// A value that counts how often it is copied.
    #[derive(Debug)]
    struct Counted(Arc<()>);

    impl Clone for Counted {
        fn clone(&self) -> Self {
            Self(Arc::clone(&self.0))
        }
    }

    #[test]
    fn a_write_beside_a_copy_copies_one_chunk_and_no_more() {
        let token = Arc::new(());
        let mut map: SharedMap<u32, Counted> =
            (0..100_000).map(|n| (n, Counted(Arc::clone(&token)))).collect();
        let whole = Arc::strong_count(&token);
        let view = map.clone();
        assert_eq!(Arc::strong_count(&token), whole, "a copy copies nothing");
        map.pop_first();
        map.insert(100_000, Counted(Arc::clone(&token)));
        let copied = Arc::strong_count(&token) - whole;
        assert!(copied <= 2 * CHUNK_ENTRIES_MAX, "{copied} of 100,000 were copied");
        assert_eq!((view.len(), map.len()), (100_000, 100_000));
    }
}
