//! The watermark: what was durable at last, written outside the database's journal.
//!
//! The database takes damage in the middle of its journal for the torn end of an unfinished batch and goes
//! on without everything behind it. So each durable commit notes here, after its sync, how far every
//! keyspace has come; an opening that finds less refuses to run.
//!
//! The file has two places that are written in turn, so that a write which the machine's end tears apart
//! leaves the one before it. It is written in place and without a sync of its own: the end of the process
//! loses none of it, and the end of power only makes it say less than is there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::super::StoreError;
use super::folder::{ADVICE, io_error, sync_folder};
use super::keyspaces::{FIRST_PARTS, Marks, PARTS};

const FILE: &str = "dex-watermark";
const MAGIC: &[u8; 8] = b"dexwater";
const VERSION: u64 = 2;

/// The version before there were streams, with a mark less.
const VERSION_WITHOUT_STREAMS: u64 = 1;

/// Magic, then version, count, epoch and marks, then the checksum.
const fn place_len(parts: usize) -> usize {
    MAGIC.len() + (3 + parts + 1) * 8
}

const PLACE_LEN: usize = place_len(PARTS);

/// Distance of the two places: no sector or page holds parts of both.
const PLACE_DISTANCE: u64 = 4096;

/// What is known to be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Watermark {
    pub(super) epoch: u64,
    pub(super) marks: Marks,
}

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct WatermarkFile {
    path: PathBuf,
    file: File,
    /// Writes so far, over all openings: says which place is newer and which is next.
    count: u64,
}

/// Where the watermark of the database in `data` is.
pub(super) fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Reads the watermark of the database in `data`.
pub(super) fn read(data: &Path) -> Result<Watermark, StoreError> {
    newest(data).map(|(_, watermark)| watermark)
}

fn newest(data: &Path) -> Result<(u64, Watermark), StoreError> {
    let path = path(data);
    let damaged = |what: &str| StoreError::Damaged {
        path: path.clone(),
        reason: format!("{what}, so it cannot be told whether commits are lost; {ADVICE}"),
    };
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(damaged("the file is missing")),
        Err(error) => return Err(io_error("open", &path, error)),
    };
    let mut read_place = |start| {
        let mut place = Vec::with_capacity(PLACE_LEN);
        file.seek(SeekFrom::Start(start)).ok()?;
        Read::by_ref(&mut file).take(PLACE_LEN as u64).read_to_end(&mut place).ok()?;
        decode(&place)
    };
    let places = [read_place(0), read_place(PLACE_DISTANCE)];
    places.into_iter().flatten().max_by_key(|(count, _)| *count).ok_or_else(|| damaged("it is not whole"))
}

impl WatermarkFile {
    /// Opens the file, or makes it, and writes `watermark` with a sync.
    pub(super) fn create(data: &Path, watermark: &Watermark) -> Result<Self, StoreError> {
        let count = newest(data).map_or(0, |(count, _)| count);
        let path = path(data);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|e| io_error("open", &path, e))?;
        let mut this = Self { path, file, count };
        this.write(watermark)?;
        this.sync()?;
        sync_folder(data).map_err(|e| io_error("sync", data, e))?;
        Ok(this)
    }

    /// Writes `watermark`, which must be durable in the database.
    pub(super) fn write(&mut self, watermark: &Watermark) -> Result<(), StoreError> {
        self.count += 1;
        let start = if self.count.is_multiple_of(2) { 0 } else { PLACE_DISTANCE };
        let place = encode(self.count, watermark);
        self.file
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.file.write_all(&place))
            .map_err(|e| io_error("write", &self.path, e))
    }

    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_all().map_err(|e| io_error("sync", &self.path, e))
    }
}

fn encode(count: u64, watermark: &Watermark) -> Vec<u8> {
    let mut place = Vec::with_capacity(PLACE_LEN);
    place.extend(MAGIC);
    for number in [VERSION, count, watermark.epoch].into_iter().chain(watermark.marks.0) {
        place.extend(number.to_be_bytes());
    }
    place.extend(checksum(&place).to_be_bytes());
    place
}

fn decode(place: &[u8]) -> Option<(u64, Watermark)> {
    let version = u64::from_be_bytes(*place.get(MAGIC.len()..)?.first_chunk()?);
    let parts = match version {
        VERSION_WITHOUT_STREAMS => FIRST_PARTS,
        VERSION => PARTS,
        _ => return None,
    };
    let (content, sum) = place.get(..place_len(parts))?.split_last_chunk()?;
    if checksum(content) != u64::from_be_bytes(*sum) {
        return None;
    }
    let numbers = content.strip_prefix(MAGIC)?.chunks_exact(8);
    let mut numbers =
        numbers.skip(1).map(|bytes| bytes.try_into().map(u64::from_be_bytes).unwrap_or_default());
    let (count, epoch) = (numbers.next()?, numbers.next()?);
    let mut marks = Marks::default();
    for (mark, number) in marks.0.iter_mut().zip(numbers) {
        *mark = number;
    }
    Some((count, Watermark { epoch, marks }))
}

/// FNV-1a, 64 bits. Enough to tell a torn or damaged place from a whole one.
fn checksum(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watermark(n: u64) -> Watermark {
        Watermark { epoch: 3, marks: Marks([n; PARTS]) }
    }

    #[test]
    fn the_newest_write_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = WatermarkFile::create(folder.path(), &watermark(1)).unwrap();
        for n in 2..6 {
            file.write(&watermark(n)).unwrap();
            assert_eq!(read(folder.path()).unwrap(), watermark(n));
        }
        drop(file);
        WatermarkFile::create(folder.path(), &watermark(7)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), watermark(7));
    }

    /// A place as it was written when there were seven keyspaces.
    fn old_place(count: u64, mark: u64) -> Vec<u8> {
        let mut place = MAGIC.to_vec();
        let numbers = [VERSION_WITHOUT_STREAMS, count, 3].into_iter().chain([mark; FIRST_PARTS]);
        place.extend(numbers.flat_map(u64::to_be_bytes));
        let sum = checksum(&place);
        place.extend(sum.to_be_bytes());
        place
    }

    #[test]
    fn what_was_written_before_there_were_streams_is_read_and_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut old = old_place(2, 6);
        old.resize(usize::try_from(PLACE_DISTANCE).unwrap(), 0);
        old.extend(old_place(1, 5));
        std::fs::write(path(folder.path()), old).unwrap();
        let mut marks = Marks([6; PARTS]);
        marks.set(super::super::keyspaces::Part::Streams, 0);
        assert_eq!(read(folder.path()).unwrap(), Watermark { epoch: 3, marks });
        let mut file = WatermarkFile::create(folder.path(), &watermark(7)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), watermark(7));
        file.write(&watermark(8)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), watermark(8));
    }

    #[test]
    fn a_torn_write_leaves_the_one_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = WatermarkFile::create(folder.path(), &watermark(1)).unwrap();
        file.write(&watermark(2)).unwrap();
        let mut bytes = std::fs::read(path(folder.path())).unwrap();
        bytes[20..40].fill(0);
        std::fs::write(path(folder.path()), bytes).unwrap();
        assert_eq!(read(folder.path()).unwrap(), watermark(1));
    }

    #[test]
    fn a_file_without_a_whole_place_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        for bytes in [vec![], vec![1], vec![0; 9000]] {
            std::fs::write(path(folder.path()), bytes).unwrap();
            assert!(matches!(read(folder.path()), Err(StoreError::Damaged { .. })));
        }
    }
}
