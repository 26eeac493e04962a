//! Looking at the database's files around its opening.
//!
//! The database takes some damage for leftovers of its own and cleans up: a keyspace without its `current`
//! file is deleted, a missing journal is made anew with version numbers that begin again, a sealed journal
//! is cut at the first record that does not parse. So files are looked at before it is let at them, and
//! journals once more after.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::super::StoreError;
use super::folder::{ADVICE, io_error};
use super::keyspaces::FIRST_PARTS;

/// Says that an opening found damage which the database has since cut away.
const DAMAGED: &str = "dex-damaged";

/// A journal: its number, where it is, and its length in bytes.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

/// A journal that had been written to its end before this opening, and how long it is without the zeros
/// that the database puts there beforehand.
#[derive(Debug)]
pub(super) struct Sealed {
    path: PathBuf,
    /// Kept open, because the database may delete the journal as soon as it is in tables.
    file: File,
    content: u64,
}

/// Refuses a database that must not be opened as it is. Gives its sealed journals.
pub(super) fn before_opening(data: &Path) -> Result<Vec<Sealed>, StoreError> {
    let noted = data.join(DAMAGED);
    if let Ok(reason) = fs::read_to_string(&noted) {
        return Err(damaged(&noted, reason.trim()));
    }
    keyspaces(data)?;
    // The folder's own lock is what counts, so this one may be made anew.
    let lock = data.join("lock");
    File::options().create(true).append(true).open(&lock).map_err(|e| io_error("open", &lock, e))?;
    let journals = journals(data)?;
    if journals.is_empty() {
        return Err(damaged(data, "its journal is missing"));
    }
    let numbers = journals.iter().map(|journal| journal.number);
    if let Some((before, _)) = numbers.clone().zip(numbers.skip(1)).find(|(a, b)| a + 1 != *b) {
        return Err(damaged(data, &format!("journal {} is missing", before + 1)));
    }
    let sealed = sealed(&journals)?;
    match sealed.iter().find(|journal| journal.content == 0) {
        Some(empty) => Err(damaged(&empty.path, "nothing is in it")),
        None => Ok(sealed),
    }
}

/// All of `journals` but the last: its end may be an unfinished batch, and the watermark tells whether it
/// was more.
pub(super) fn sealed(journals: &[Journal]) -> Result<Vec<Sealed>, StoreError> {
    let sealed = journals.split_last().map_or(&[][..], |(_, sealed)| sealed);
    let look = |journal: &Journal| {
        let path = journal.path.clone();
        let mut file = File::open(&path).map_err(|e| io_error("open", &path, e))?;
        let content = content_length(&mut file, journal.bytes).map_err(|e| io_error("read", &path, e))?;
        Ok(Sealed { path, file, content })
    };
    sealed.iter().map(look).collect()
}

/// The place behind a journal's last byte that is not zero. A batch ends with one that is not.
fn content_length(file: &mut File, bytes: u64) -> io::Result<u64> {
    const CHUNK: u64 = 64 * 1024;
    let mut end = bytes;
    let mut chunk = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        chunk.clear();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut chunk)?;
        if let Some(last) = chunk.iter().rposition(|byte| *byte != 0) {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Refuses a database that has cut a journal which had been written to its end.
///
/// The finding is written down, since the next opening would see nothing.
pub(super) fn after_opening(data: &Path, sealed: &[Sealed]) -> Result<(), StoreError> {
    let Some(cut) = sealed.iter().find(|journal| journal.was_cut()) else {
        return Ok(());
    };
    let reason = format!("commits in the middle are lost: `{}` was damaged", cut.path.display());
    let path = data.join(DAMAGED);
    fs::write(&path, &reason).map_err(|e| io_error("write", &path, e))?;
    Err(damaged(&cut.path, &reason))
}

impl Sealed {
    /// Whether the database has cut the journal since it was looked at, or found nothing to cut in it.
    pub(super) fn was_cut(&self) -> bool {
        let now = self.file.metadata().map(|file| file.len());
        self.content == 0 || now.is_ok_and(|now| now < self.content)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Numbers and lengths of the journals in `data`, oldest first.
pub(super) fn journals(data: &Path) -> Result<Vec<Journal>, StoreError> {
    let mut journals = Vec::new();
    for entry in fs::read_dir(data).map_err(|e| io_error("list", data, e))? {
        let path = entry.map_err(|e| io_error("list", data, e))?.path();
        if path.extension().is_none_or(|extension| extension != "jnl") {
            continue;
        }
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        let number = number.ok_or_else(|| damaged(&path, "a journal's name is a number"))?;
        let bytes = fs::metadata(&path).map_err(|e| io_error("look at", &path, e))?.len();
        journals.push(Journal { number, path, bytes });
    }
    journals.sort_by_key(|journal| journal.number);
    Ok(journals)
}

/// Takes away the note of an earlier finding. Whether there was one.
pub(super) fn forget_damage(data: &Path) -> bool {
    fs::remove_file(data.join(DAMAGED)).is_ok()
}

/// Each keyspace, ours and the database's own, has its `current` file, and the database its version.
pub(super) fn keyspaces(data: &Path) -> Result<(), StoreError> {
    require(&data.join("version"))?;
    let folder = data.join("keyspaces");
    let mut found = 0;
    for entry in fs::read_dir(&folder).map_err(|_| damaged(&folder, "the folder is missing"))? {
        let path = entry.map_err(|e| io_error("list", &folder, e))?.path();
        if !path.is_dir() {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str());
        if name.and_then(|name| name.parse::<u64>().ok()).is_none() {
            return Err(damaged(&path, "it does not belong here"));
        }
        require(&path.join("current"))?;
        found += 1;
    }
    // One is the database's own. Whether a later keyspace had something in it is told by the watermark.
    let needed = FIRST_PARTS + 1;
    if found < needed {
        return Err(damaged(&folder, &format!("{} of its {needed} folders are missing", needed - found)));
    }
    Ok(())
}

fn require(path: &Path) -> Result<(), StoreError> {
    if path.is_file() { Ok(()) } else { Err(damaged(path, "the file is missing")) }
}

fn damaged(path: &Path, reason: &str) -> StoreError {
    StoreError::Damaged { path: path.into(), reason: format!("{reason}; {ADVICE}") }
}
