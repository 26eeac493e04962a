//! Getting a store to open again that does not, at a known price.
//!
//! A repair first copies the database aside. Then it takes away what the database cannot read: the journal
//! from the first bad batch on. What is left is what was committed up to there, and the watermark is set to
//! it, so that the store opens. Nothing that a table has lost can be brought back this way.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::super::{StoreError, keys};
use super::folder::{ADVICE, Content, Folder, io_error};
use super::inspect::{self, Journal};
use super::keyspaces::{Keyspaces, number, read_error};
use super::open::{Opened, open_database};
use super::options::FjallOptions;
use super::watermark::{self, Watermark, WatermarkFile};

/// What a repair did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairReport {
    /// The database as it was before, beside the store's data. Delete it when it is not needed any more.
    pub backup: PathBuf,
    /// Commits that had been acknowledged and are gone, as far as that is known: the numbers of merged
    /// commits, not of transitions. Of a keyspace that had come further than others, more may be there.
    pub lost: Option<RangeInclusive<u64>>,
    /// The last commit that is there.
    pub last: u64,
    /// What was changed, in words.
    pub actions: Vec<String>,
}

/// Repairs the store in the folder `path`, which nobody has open.
///
/// Runs whose transitions are partly lost are found when they are loaded: each is as it was at some earlier
/// time, or is refused as unreadable.
///
/// # Errors
///
/// - [`StoreError::InUse`], [`StoreError::Foreign`], [`StoreError::NewerFormat`]: nothing was done.
/// - [`StoreError::Damaged`]: the store cannot be repaired; it is as it was.
/// - [`StoreError::Io`]: the system refused; the store is as it was, if need be in the backup.
pub fn repair(path: impl AsRef<Path>) -> Result<RepairReport, StoreError> {
    let path = path.as_ref();
    let nothing = || StoreError::Foreign { path: path.into(), reason: "there is nothing to repair".into() };
    if !path.join("data").is_dir() {
        return Err(nothing());
    }
    let folder = Folder::at(path)?;
    match folder.content() {
        // The folder is ours: a watermark or a marker says so, be it a broken one.
        Ok(Content::Store) | Err(StoreError::Damaged { .. }) => {}
        Ok(Content::Nothing) => return Err(nothing()),
        Err(other) => return Err(other),
    }
    let _lock = folder.lock()?;
    let backup = copy_aside(&folder)?;
    let repaired = repair_data(&folder, backup.clone());
    repaired.or_else(|error| {
        put_back(&folder, &backup)?;
        Err(not_repairable(error))
    })
}

fn not_repairable(error: StoreError) -> StoreError {
    match error {
        StoreError::Damaged { path, reason } => {
            let reason = reason.replace(ADVICE, "a repair does not help, a copy of the folder may");
            StoreError::Damaged { path, reason }
        }
        other => other,
    }
}

fn repair_data(folder: &Folder, backup: PathBuf) -> Result<RepairReport, StoreError> {
    let data = folder.data();
    let mut actions = Vec::new();
    if inspect::forget_damage(&data) {
        actions.push("went on without commits in the middle; which they are is not known".to_owned());
    }
    // The database would delete a keyspace that it takes for half made.
    inspect::keyspaces(&data)?;
    mend_journals(&data, &mut actions)?;
    let sealed = inspect::sealed(&inspect::journals(&data)?)?;
    let opened = open_or_cut(folder, &mut actions)?;
    for journal in sealed.iter().filter(|journal| journal.was_cut()) {
        let path = journal.path().display();
        actions
            .push(format!("went on without the commits that `{path}` has lost; which they are is not known"));
    }

    let noted = watermark::read(&data);
    if noted.is_err() {
        actions.push("made the watermark anew".to_owned());
    }
    let noted = noted.unwrap_or_default();
    let found = opened.keyspaces.marks()?;
    let lost = found.lost(&noted.marks);
    let epoch = stored_epoch(&opened.keyspaces)?.max(noted.epoch);
    close(&opened)?;
    drop(opened);
    WatermarkFile::create(&data, &Watermark { epoch, marks: found })?;
    if folder.content().is_err() {
        folder.restore_marker()?;
        actions.push("made the folder's marker anew".to_owned());
    }
    Ok(RepairReport { backup, lost, last: found.latest(), actions })
}

fn stored_epoch(keyspaces: &Keyspaces) -> Result<u64, StoreError> {
    let stored = keyspaces.meta.get(keys::EPOCH).map_err(|e| read_error(&e))?;
    stored.map_or(Ok(0), |value| number(&value))
}

fn close(opened: &Opened) -> Result<(), StoreError> {
    let synced = opened.database.persist(fjall::PersistMode::SyncAll);
    synced.map_err(|e| StoreError::io("sync the journal", io::Error::other(e)))?;
    opened.keyspaces.flush()
}

/// Sees to it that there are journals without a gap between them.
fn mend_journals(data: &Path, actions: &mut Vec<String>) -> Result<(), StoreError> {
    let journals = inspect::journals(data)?;
    if journals.is_empty() {
        // An empty journal, unlike a missing one, makes the database go on counting where its tables end.
        let path = data.join("0.jnl");
        File::create(&path).map_err(|e| io_error("make", &path, e))?;
        actions.push("put an empty journal in the place of the missing one".to_owned());
    }
    let gap = journals.iter().zip(journals.iter().skip(1)).position(|(a, b)| a.number + 1 != b.number);
    if let Some(gap) = gap {
        remove(journals.get(gap + 1..).unwrap_or_default(), actions)?;
    }
    Ok(())
}

fn remove(journals: &[Journal], actions: &mut Vec<String>) -> Result<(), StoreError> {
    for journal in journals {
        fs::remove_file(&journal.path).map_err(|e| io_error("remove", &journal.path, e))?;
        actions.push(format!("left out journal {}, which follows a damaged one", journal.number));
    }
    Ok(())
}

fn open_or_cut(folder: &Folder, actions: &mut Vec<String>) -> Result<Opened, StoreError> {
    let data = folder.data();
    let options = FjallOptions::default();
    let first = match open_database(&data, &options) {
        Ok(opened) => return Ok(opened),
        Err(first) => first,
    };
    let scratch = Scratch::of(folder);
    let journals = inspect::journals(&data)?;
    for (place, journal) in journals.iter().enumerate() {
        if scratch.valid_length(journal, journal.bytes)?.is_some() {
            continue;
        }
        let whole = scratch.longest_valid(journal)?;
        cut(journal, whole, actions)?;
        remove(journals.get(place + 1..).unwrap_or_default(), actions)?;
        return open_database(&data, &options);
    }
    // The journals are readable, so it is something that cannot be cut off.
    Err(first)
}

fn cut(journal: &Journal, length: u64, actions: &mut Vec<String>) -> Result<(), StoreError> {
    File::options()
        .write(true)
        .open(&journal.path)
        .and_then(|file| file.set_len(length).and_then(|()| file.sync_all()))
        .map_err(|e| io_error("cut", &journal.path, e))?;
    actions
        .push(format!("cut journal {} at byte {length}, where its first bad batch begins", journal.number));
    Ok(())
}

/// A database of its own in which a journal can be tried without the store's tables.
///
/// The database leaves out journal entries of keyspaces that it does not have, but checks every batch. So
/// nothing here needs to know how a journal looks.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn of(folder: &Folder) -> Self {
        Self { path: folder.root().join("repair-scratch") }
    }

    /// How much of the journal's first `length` bytes are whole batches; `None` if one of them is bad.
    fn valid_length(&self, journal: &Journal, length: u64) -> Result<Option<u64>, StoreError> {
        self.clear()?;
        let options = FjallOptions::default();
        let empty = options.database(&self.path).open();
        drop(empty.map_err(|e| StoreError::io("make a scratch database", io::Error::other(e)))?);
        let copy = self.path.join("0.jnl");
        copy_head(&journal.path, &copy, length).map_err(|e| io_error("copy", &journal.path, e))?;
        let opened = options.database(&self.path).open();
        match opened {
            Ok(_) => {
                fs::metadata(&copy).map(|file| Some(file.len())).map_err(|e| io_error("look at", &copy, e))
            }
            Err(fjall::Error::JournalRecovery(_)) => Ok(None),
            Err(other) => Err(StoreError::io("try a journal", io::Error::other(other))),
        }
    }

    /// The length of the whole batches before the first bad one.
    ///
    /// A head of the journal opens if and only if it ends before the end of the first bad batch, so the
    /// place is found by halving.
    fn longest_valid(&self, journal: &Journal) -> Result<u64, StoreError> {
        let (mut opens, mut fails) = (0, journal.bytes);
        let mut whole = 0;
        while fails - opens > 1 {
            let middle = opens + (fails - opens) / 2;
            match self.valid_length(journal, middle)? {
                Some(length) => (opens, whole) = (middle, length),
                None => fails = middle,
            }
        }
        Ok(whole)
    }

    fn clear(&self) -> Result<(), StoreError> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(io_error("remove", &self.path, error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next repair.
        let _ = self.clear();
    }
}

fn copy_head(from: &Path, to: &Path, length: u64) -> io::Result<()> {
    let mut head = File::open(from)?.take(length);
    let mut copy = File::create(to)?;
    io::copy(&mut head, &mut copy)?;
    copy.sync_all()
}

/// Copies the data to a folder beside it that does not exist yet.
fn copy_aside(folder: &Folder) -> Result<PathBuf, StoreError> {
    let free = (1_u32..).map(|n| folder.root().join(format!("data-before-repair-{n}")));
    let Some(backup) = free.into_iter().find(|path| !path.exists()) else {
        return Err(StoreError::io("name a copy", io::ErrorKind::AlreadyExists.into()));
    };
    copy_folder(&folder.data(), &backup).map_err(|e| io_error("copy the data to", &backup, e))?;
    Ok(backup)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    super::folder::sync_folder(to)
}

fn put_back(folder: &Folder, backup: &Path) -> Result<(), StoreError> {
    let data = folder.data();
    fs::remove_dir_all(&data)
        .and_then(|()| fs::rename(backup, &data))
        .map_err(|e| io_error("put back the data from", backup, e))
}
