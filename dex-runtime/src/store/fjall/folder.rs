//! The folder of a store: whose it is, and who has it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::StoreError;

/// The format of the folder as a whole: layout, keyspaces, keys. Records have versions of their own.
pub(super) const FORMAT: u32 = 1;

const MARKER: &str = "dex-store";
/// The marker while a store is being made: nothing was ever acknowledged.
const UNFINISHED: &str = "dex-store.unfinished";
const LOCK: &str = "lock";
const DATA: &str = "data";

/// How long a folder that is in use is waited for: a service that is restarted ends the old process first,
/// and its lock goes a moment after.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// What can be done about damage.
pub(super) const ADVICE: &str = "put back a copy of the folder, or repair the store";

/// A folder that holds a store, or may.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    root: PathBuf,
}

/// What is in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing, or a store whose making was cut off.
    Nothing,
    /// A store.
    Store,
}

/// Held while the store is open. The system releases it when the process ends, however it does.
#[derive(Debug)]
pub(super) struct FolderLock(#[expect(dead_code, reason = "kept for being open")] File);

impl Folder {
    /// The folder at `path`, made if it does not exist.
    pub(super) fn at(path: &Path) -> Result<Self, StoreError> {
        if path.is_file() {
            return Err(foreign(path, "it is a file"));
        }
        make_folder(path).map_err(|e| io_error("make the folder", path, e))?;
        // Two names of one folder are one folder.
        let root = path.canonicalize().map_err(|e| io_error("find the folder", path, e))?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn data(&self) -> PathBuf {
        self.root.join(DATA)
    }

    pub(super) fn marker(&self) -> PathBuf {
        self.root.join(MARKER)
    }

    /// Looks at what is here, without touching it.
    pub(super) fn content(&self) -> Result<Content, StoreError> {
        match fs::read(self.marker()) {
            Ok(marker) => self.check_marker(&marker).map(|()| Content::Store),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.content_without_marker(),
            Err(error) => Err(io_error("read", &self.marker(), error)),
        }
    }

    fn check_marker(&self, marker: &[u8]) -> Result<(), StoreError> {
        let format = std::str::from_utf8(marker)
            .ok()
            .and_then(|text| text.strip_prefix("dex store, format "))
            .and_then(|number| number.trim_end().parse().ok());
        match format {
            Some(FORMAT) => Ok(()),
            Some(found) => Err(StoreError::NewerFormat { path: self.root.clone(), found, known: FORMAT }),
            None => Err(StoreError::Damaged {
                path: self.marker(),
                reason: format!("it does not say what the folder is; {ADVICE}"),
            }),
        }
    }

    fn content_without_marker(&self) -> Result<Content, StoreError> {
        if self.root.join(UNFINISHED).exists() {
            return Ok(Content::Nothing);
        }
        if super::watermark::read(&self.data()).is_ok() {
            return Err(StoreError::Damaged {
                path: self.marker(),
                reason: format!("the file is missing; {ADVICE}"),
            });
        }
        let entries = fs::read_dir(&self.root).map_err(|e| io_error("list", &self.root, e))?;
        for entry in entries {
            let name = entry.map_err(|e| io_error("list", &self.root, e))?.file_name();
            // Our own lock file outlives an opening that failed; the other is in every fresh file system.
            if name != LOCK && name != "lost+found" {
                return Err(foreign(&self.root, &format!("it contains `{}`", name.display())));
            }
        }
        Ok(Content::Nothing)
    }

    /// Takes the folder for this process.
    pub(super) fn lock(&self) -> Result<FolderLock, StoreError> {
        let path = self.root.join(LOCK);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|e| io_error("open", &path, e))?;
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(FolderLock(file)),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { path: self.root.clone() }),
                Err(TryLockError::Error(e)) => return Err(io_error("lock", &path, e)),
            }
        }
    }

    /// Marks the folder as one in which a store is being made, and removes what an earlier try left.
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        self.write_marker(UNFINISHED)?;
        let data = self.data();
        if data.exists() {
            fs::remove_dir_all(&data).map_err(|e| io_error("remove the unfinished", &data, e))?;
        }
        Ok(())
    }

    /// Makes the folder a store. Before this returns, nothing may be acknowledged.
    pub(super) fn finish(&self) -> Result<(), StoreError> {
        fs::rename(self.root.join(UNFINISHED), self.marker())
            .and_then(|()| sync_folder(&self.root))
            .map_err(|e| io_error("write", &self.marker(), e))
    }

    fn write_marker(&self, name: &str) -> Result<(), StoreError> {
        let path = self.root.join(name);
        File::create(&path)
            .and_then(|mut file| {
                writeln!(file, "dex store, format {FORMAT}")?;
                file.sync_all()
            })
            .and_then(|()| sync_folder(&self.root))
            .map_err(|e| io_error("write", &path, e))
    }

    /// Writes the marker anew, for a store that has lost it.
    pub(super) fn restore_marker(&self) -> Result<(), StoreError> {
        self.write_marker(UNFINISHED)?;
        self.finish()
    }
}

fn foreign(path: &Path, reason: &str) -> StoreError {
    StoreError::Foreign { path: path.into(), reason: reason.into() }
}

pub(super) fn io_error(doing: &str, path: &Path, source: io::Error) -> StoreError {
    StoreError::io(format!("{doing} `{}`", path.display()), source)
}

/// Makes a folder, with those above it, so that all of them are there after the machine's end too.
fn make_folder(path: &Path) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(path)?;
    for folder in missing {
        match folder.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync_folder(Path::new("."))?,
            Some(parent) => sync_folder(parent)?,
            None => {}
        }
    }
    Ok(())
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
