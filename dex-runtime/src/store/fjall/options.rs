//! What can be set about the embedded store.

use super::keyspaces::Part;

const MIB: u64 = 1024 * 1024;

/// Options of the embedded store. The defaults suit a service that shares its machine with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FjallOptions {
    /// Bytes of memory for blocks that were read from disk. A fifth of what the process may use is plenty.
    pub cache_bytes: u64,
    /// Bytes of written rows that a keyspace of records keeps in memory before it writes a table; those of small rows,
    /// which take several times their bytes in memory, keep an eighth of it.
    ///
    /// Small, because what is in memory at a crash is read again from the journal at the next opening.
    pub memtable_bytes: u64,
    /// Bytes of journal at which tables are written early. At least 64 MiB, which smaller values mean.
    ///
    /// Opening after a crash takes about a second for each 64 MiB.
    pub journal_bytes: u64,
    /// Commits are refused while fewer bytes than this are free on the disk.
    ///
    /// The database cannot go on once a write of its own has hit a full disk, so commits stop while
    /// everything in memory still has room to be written: twice the journal limit.
    pub free_bytes_min: u64,
}

impl FjallOptions {
    /// Least journal limit that the database takes.
    const JOURNAL_BYTES_MIN: u64 = 64 * MIB;

    /// How much smaller the memory of a keyspace of small rows is.
    const SMALL_ROWS: u64 = 8;

    /// Bytes of memory of a keyspace, by what is in it.
    pub(super) fn memtable(&self, part: Part) -> u64 {
        match part {
            Part::Events | Part::Snapshots | Part::Streams => self.memtable_bytes,
            Part::Runs | Part::Live | Part::Ready | Part::Timers | Part::Meta => {
                self.memtable_bytes / Self::SMALL_ROWS
            }
        }
    }

    pub(super) fn database(&self, path: &std::path::Path) -> fjall::DatabaseBuilder<fjall::Database> {
        fjall::Database::builder(path)
            .cache_size(self.cache_bytes)
            .max_journaling_size(self.journal_bytes.max(Self::JOURNAL_BYTES_MIN))
            // With several, one is kept free for flushes: while another compacts it takes the task of compacting
            // out of their queue and puts it back, over and over, and costs a processor (3.1.13, `worker_tick`).
            .worker_threads(1)
    }
}

impl Default for FjallOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 32 * MIB,
            memtable_bytes: 16 * MIB,
            journal_bytes: 64 * MIB,
            free_bytes_min: 128 * MIB,
        }
    }
}
