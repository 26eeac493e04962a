//! The keyspaces, and what is done with all of them.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use fjall::config::CompressionPolicy;
use fjall::{AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions};

use super::super::{StoreError, keys};
use super::options::FjallOptions;

/// A keyspace, by what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    Events,
    Snapshots,
    Runs,
    Live,
    Ready,
    Timers,
    Meta,
    Streams,
}

pub(super) const PARTS: usize = 8;

/// Keyspaces that every store has; those after them came later, and are made when a store without them is opened.
pub(super) const FIRST_PARTS: usize = 7;

impl Part {
    /// In the order in which marks are written in the watermark: new ones go to the end.
    pub(super) const ALL: [Self; PARTS] = [
        Self::Events,
        Self::Snapshots,
        Self::Runs,
        Self::Live,
        Self::Ready,
        Self::Timers,
        Self::Meta,
        Self::Streams,
    ];

    /// The keyspace's name on disk, for ever.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Snapshots => "snapshots",
            Self::Runs => "runs",
            Self::Live => "live",
            Self::Ready => "ready",
            Self::Timers => "timers",
            Self::Meta => "meta",
            Self::Streams => "streams",
        }
    }
}

/// For each keyspace the sequence number of the last batch that changed it; 0 if none has.
///
/// Keyspaces get from the journal to tables at their own times, so each one tells for itself what it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(pub(super) [u64; PARTS]);

impl Marks {
    pub(super) fn latest(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }

    /// The number of the next batch.
    pub(super) fn next(&self) -> u64 {
        // A mark that cannot be counted on from is damage; marks are never this large.
        self.latest().saturating_add(1)
    }

    pub(super) fn set(&mut self, part: Part, sequence: u64) {
        if let Some(mark) = self.0.get_mut(part as usize) {
            *mark = sequence;
        }
    }

    /// The keyspaces that the latest batch has changed.
    pub(super) fn changed(self) -> impl Iterator<Item = Part> {
        let latest = self.latest();
        Part::ALL.into_iter().zip(self.0).filter(move |(_, mark)| *mark == latest).map(|(part, _)| part)
    }

    /// The keyspaces that should have more than they do.
    pub(super) fn behind<'a>(&'a self, expected: &'a Self) -> impl Iterator<Item = Part> + 'a {
        let pairs = self.0.iter().zip(&expected.0).zip(Part::ALL);
        pairs.filter(|((found, expected), _)| found < expected).map(|(_, part)| part)
    }

    /// The batches that are missing from what was `expected`, as far as marks tell.
    pub(super) fn lost(&self, expected: &Self) -> Option<RangeInclusive<u64>> {
        let behind = self.0.iter().zip(&expected.0).filter(|(found, expected)| found < expected);
        let first_known = behind.map(|(_, expected)| *expected).min()?;
        // A journal that lost its end has nothing after its last batch. If some keyspace has come further,
        // it is only certain that the last batch of each that has not is gone.
        let (found, expected) = (self.latest(), expected.latest());
        let first = if found < expected { found + 1 } else { first_known };
        Some(first..=expected)
    }
}

pub(super) struct Keyspaces {
    pub(super) events: Keyspace,
    pub(super) snapshots: Keyspace,
    pub(super) runs: Keyspace,
    pub(super) live: Keyspace,
    pub(super) ready: Keyspace,
    pub(super) timers: Keyspace,
    pub(super) meta: Keyspace,
    pub(super) streams: Keyspace,
    options: FjallOptions,
}

/// Rows that may wait in memory for a table, beside those that come, in portions of what makes one. One more and the
/// database holds writes up by tenths of a second.
const PORTIONS_MAX: usize = 3;

/// How many portions those that come may grow to while as many wait as may.
const PORTION_GROWS: u64 = 3;

/// From how many portions on the database begins a table by itself: it never comes to that.
///
/// It asks its own threads to, again with each batch until one has time, and a queue that is full of that can stop
/// them for good (3.1.13: they fill the queue that only they empty).
const PORTIONS_NEVER: u64 = 64;

/// Longest wait for memory to get into tables at closing.
///
/// What does not get there in time is in the journal; the next opening reads it from there.
const FLUSH_MAX: Duration = Duration::from_secs(10);

impl Keyspaces {
    /// Opens all keyspaces; makes those that are not there.
    pub(super) fn open(database: &Database, options: &FjallOptions) -> fjall::Result<Self> {
        let keyspace = |part: Part| {
            database.keyspace(part.name(), || {
                KeyspaceCreateOptions::default()
                    .max_memtable_size(options.memtable(part).saturating_mul(PORTIONS_NEVER))
                    .data_block_compression_policy(CompressionPolicy::disabled())
            })
        };
        Ok(Self {
            events: keyspace(Part::Events)?,
            snapshots: keyspace(Part::Snapshots)?,
            runs: keyspace(Part::Runs)?,
            live: keyspace(Part::Live)?,
            ready: keyspace(Part::Ready)?,
            timers: keyspace(Part::Timers)?,
            meta: keyspace(Part::Meta)?,
            streams: keyspace(Part::Streams)?,
            options: *options,
        })
    }

    pub(super) fn get(&self, part: Part) -> &Keyspace {
        match part {
            Part::Events => &self.events,
            Part::Snapshots => &self.snapshots,
            Part::Runs => &self.runs,
            Part::Live => &self.live,
            Part::Ready => &self.ready,
            Part::Timers => &self.timers,
            Part::Meta => &self.meta,
            Part::Streams => &self.streams,
        }
    }

    /// Reads every keyspace's mark.
    pub(super) fn marks(&self) -> Result<Marks, StoreError> {
        let mut marks = Marks::default();
        for part in Part::ALL {
            let found = self.get(part).get(keys::MARK).map_err(|e| read_error(&e))?;
            if let Some(mark) = found {
                marks.set(part, number(&mark)?);
            }
        }
        Ok(marks)
    }

    /// Has what a keyspace has in memory written into a table.
    pub(super) fn begin_table(&self, part: Part) -> Result<(), StoreError> {
        let began = self.get(part).rotate_memtable();
        began.map(drop).map_err(|error| StoreError::io("write tables", std::io::Error::other(error)))
    }

    /// Begins tables where enough has come together for one. To be called after each batch, with what has grown by it.
    pub(super) fn begin_full_tables(&self, grown: impl Iterator<Item = Part>) -> Result<(), StoreError> {
        for part in grown {
            let keyspace = self.get(part);
            let waiting = keyspace.sealed_memtable_count();
            if is_full(keyspace.tree.active_memtable().size(), self.options.memtable(part), waiting) {
                self.begin_table(part)?;
            }
        }
        Ok(())
    }

    /// Whether a table is being written.
    pub(super) fn is_flushing(&self) -> bool {
        Part::ALL.iter().any(|part| self.get(*part).sealed_memtable_count() > 0)
    }

    /// Writes what is in memory into tables, so that the next opening need not read the journal.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        for part in Part::ALL {
            self.begin_table(part)?;
        }
        let deadline = Instant::now() + FLUSH_MAX;
        while self.is_flushing() {
            if Instant::now() > deadline {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Reads a number of the kind that marks and the epoch are.
pub(super) fn number(value: &[u8]) -> Result<u64, StoreError> {
    value.try_into().map(u64::from_be_bytes).map_err(|_| StoreError::Unreadable {
        what: "a stored number".into(),
        reason: format!("it has {} bytes instead of 8", value.len()),
    })
}

/// A failed read of an open store.
pub(super) fn read_error(error: &fjall::Error) -> StoreError {
    StoreError::Unreadable {
        what: "the store".into(),
        reason: format!("{error}; if a file was damaged, put back a copy of the folder or repair it"),
    }
}

/// Whether `rows` bytes of rows are to become a table, while so many portions wait for the same.
fn is_full(rows: u64, portion: u64, waiting: usize) -> bool {
    let room = if waiting < PORTIONS_MAX { portion } else { portion.saturating_mul(PORTION_GROWS) };
    rows > room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_begun_for_each_portion_and_later_while_many_wait() {
        assert!(!is_full(10, 10, 0));
        assert!(is_full(11, 10, PORTIONS_MAX - 1));
        assert!(!is_full(30, 10, PORTIONS_MAX));
        assert!(is_full(31, 10, PORTIONS_MAX));
    }
}
