//! Opening: from a path to a store that may be written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, RwLock};
use std::thread;

use fjall::{Database, OwnedWriteBatch, PersistMode};

use super::super::{StoreError, keys};
use super::folder::{ADVICE, Content, Folder};
use super::keyspaces::{Keyspaces, Marks, Part, number, read_error};
use super::options::FjallOptions;
use super::read::View;
use super::space::Space;
use super::watermark::{self, Watermark, WatermarkFile};
use super::write::Writer;
use super::{FjallStore, Open, create, inspect};
use crate::ids::Epoch;

/// An open database with all its keyspaces.
pub(super) struct Opened {
    pub(super) database: Database,
    pub(super) keyspaces: Keyspaces,
}

pub(super) fn open(path: &Path, options: FjallOptions) -> Result<FjallStore, StoreError> {
    let folder = Folder::at(path)?;
    // Before the lock, so that nothing is put into a folder that is not ours.
    folder.content()?;
    let lock = folder.lock()?;
    // And again: another process may have made a store meanwhile.
    let opened = match folder.content()? {
        Content::Nothing => create::create(&folder, &options)?,
        Content::Store => open_store(&folder, &options)?,
    };
    let data = folder.data();
    let was_closed = was_closed(&opened)?;
    let written = begin_epoch(&opened, watermark::read(&data)?.epoch)?;
    let watermark = WatermarkFile::create(&data, &written)?;
    let flows = View::now(&opened.database, &opened.keyspaces).flows()?;
    let space = Space::new(data, options.free_bytes_min);
    Ok(FjallStore {
        path: folder.root().into(),
        epoch: Epoch(written.epoch),
        was_closed,
        writer: Mutex::new(Writer::new(written, watermark, flows, space)),
        open: RwLock::new(Some(Open { keyspaces: opened.keyspaces, database: opened.database, _lock: lock })),
        fault: Mutex::new(None),
    })
}

fn open_store(folder: &Folder, options: &FjallOptions) -> Result<Opened, StoreError> {
    let data = folder.data();
    let expected = watermark::read(&data)?;
    let journals = inspect::before_opening(&data)?;
    let opened = open_database(&data, options)?;
    inspect::after_opening(&data, &journals)?;
    check_marks(&data, &opened.keyspaces.marks()?, &expected.marks)?;
    Ok(opened)
}

/// Refuses a store that has less than was acknowledged.
fn check_marks(data: &Path, found: &Marks, expected: &Marks) -> Result<(), StoreError> {
    let Some(lost) = found.lost(expected) else {
        return Ok(());
    };
    let parts: Vec<_> = found.behind(expected).map(Part::name).collect();
    Err(StoreError::Damaged {
        path: data.into(),
        reason: format!(
            "lost commits {}..={} of {}: they were acknowledged and are not there any more; {ADVICE} to go on \
             without them",
            lost.start(),
            lost.end(),
            parts.join(", "),
        ),
    })
}

/// Whether the latest opening was closed, or there was none.
fn was_closed(opened: &Opened) -> Result<bool, StoreError> {
    let meta = &opened.keyspaces.meta;
    let latest = meta.get(keys::EPOCH).map_err(|e| read_error(&e))?;
    let closed = meta.get(keys::CLOSED).map_err(|e| read_error(&e))?;
    Ok(latest == closed)
}

/// Makes this opening the one that may write.
fn begin_epoch(opened: &Opened, noted: u64) -> Result<Watermark, StoreError> {
    let meta = &opened.keyspaces.meta;
    let stored = meta.get(keys::EPOCH).map_err(|e| read_error(&e))?;
    let stored = stored.map_or(Ok(0), |value| number(&value))?;
    let epoch = stored.max(noted).saturating_add(1);
    let mut marks = opened.keyspaces.marks()?;
    let sequence = marks.next();
    marks.set(Part::Meta, sequence);
    let mut batch =
        OwnedWriteBatch::with_capacity(opened.database.clone(), 2).durability(Some(PersistMode::SyncData));
    batch.insert(meta, keys::EPOCH, epoch.to_be_bytes());
    batch.insert(meta, keys::MARK, sequence.to_be_bytes());
    batch.commit().map_err(|e| StoreError::io("begin a new epoch", io::Error::other(e)))?;
    Ok(Watermark { epoch, marks })
}

/// Opens the database in `data`, or makes one.
///
/// On a thread of its own, because the database panics over some damaged files: a panic there is an answer
/// here.
pub(super) fn open_database(data: &Path, options: &FjallOptions) -> Result<Opened, StoreError> {
    let (path, options) = (data.to_path_buf(), *options);
    let opening = thread::spawn(move || {
        let database = options.database(&path).open()?;
        let keyspaces = Keyspaces::open(&database, &options)?;
        Ok(Opened { database, keyspaces })
    });
    match opening.join() {
        Ok(opened) => opened.map_err(|e| open_error(data.into(), e)),
        Err(panic) => Err(damaged(data.into(), panic_text(&*panic))),
    }
}

fn open_error(data: PathBuf, error: fjall::Error) -> StoreError {
    match error {
        fjall::Error::Locked => StoreError::InUse { path: data },
        fjall::Error::Io(source) if !speaks_of_content(&source) => {
            StoreError::io("open the database", source)
        }
        other => damaged(data, &other.to_string()),
    }
}

/// Whether an error of the system comes from what is in a file, or missing, and not from the disk.
fn speaks_of_content(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    matches!(error.kind(), AlreadyExists | InvalidData | InvalidInput | NotFound | Other | UnexpectedEof)
}

fn damaged(data: PathBuf, reason: &str) -> StoreError {
    StoreError::Damaged { path: data, reason: format!("it does not open ({reason}); {ADVICE}") }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}
