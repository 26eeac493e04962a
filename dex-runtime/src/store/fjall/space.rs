//! Stopping before the disk is full.
//!
//! Once a write of the database has met a full disk, it takes no more until it is opened again. So commits
//! are refused while there is still room for what is under way; nothing was written then, and they are
//! taken again as soon as there is space.

use std::io;
use std::path::PathBuf;

use super::super::StoreError;

/// Bytes written between two looks at the disk: far less than the room that is kept free.
const BYTES_BETWEEN_LOOKS: u64 = 4 * 1024 * 1024;

/// Commits between two looks, so that someone else's filling of the disk is seen when commits are small.
const COMMITS_BETWEEN_LOOKS: u32 = 64;

type Probe = Box<dyn Fn() -> io::Result<u64> + Send>;

/// Watches the free space of the disk that the store is on.
pub(super) struct Space {
    path: PathBuf,
    free_min: u64,
    free: Probe,
    bytes: u64,
    commits: u32,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Space").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Space {
    pub(super) fn new(path: PathBuf, free_min: u64) -> Self {
        let at = path.clone();
        let free = move || {
            let disk = rustix::fs::statvfs(&at)?;
            Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
        };
        Self::with_probe(path, free_min, Box::new(free))
    }

    fn with_probe(path: PathBuf, free_min: u64, free: Probe) -> Self {
        // The first commit looks.
        Self { path, free_min, free, bytes: 0, commits: COMMITS_BETWEEN_LOOKS }
    }

    /// Refuses if there is too little free space.
    ///
    /// After a refusal every call looks, so that commits go on once there is space.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        if self.bytes < BYTES_BETWEEN_LOOKS && self.commits < COMMITS_BETWEEN_LOOKS {
            return Ok(());
        }
        // A disk that does not say how full it is will say so when it is written to.
        let free = (self.free)().unwrap_or(u64::MAX);
        if free < self.free_min {
            return Err(StoreError::DiskFull { path: self.path.clone(), free, needed: self.free_min });
        }
        (self.bytes, self.commits) = (0, 0);
        Ok(())
    }

    /// Counts a commit.
    pub(super) fn wrote(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.commits = self.commits.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn space(free: &Arc<AtomicU64>, looks: &Arc<AtomicU64>) -> Space {
        let (free, looks) = (Arc::clone(free), Arc::clone(looks));
        let probe = move || {
            looks.fetch_add(1, Ordering::Relaxed);
            Ok(free.load(Ordering::Relaxed))
        };
        Space::with_probe("disk".into(), 100, Box::new(probe))
    }

    #[test]
    fn commits_are_refused_while_space_is_low_and_taken_again_after() {
        let (free, looks) = (Arc::new(AtomicU64::new(99)), Arc::default());
        let mut space = space(&free, &looks);
        let error = space.check().unwrap_err();
        assert!(matches!(error, StoreError::DiskFull { free: 99, needed: 100, .. }), "{error}");
        assert!(error.wrote_nothing());
        space.check().unwrap_err();
        free.store(100, Ordering::Relaxed);
        space.check().unwrap();
    }

    #[test]
    fn the_disk_is_asked_only_now_and_then() {
        let looks = Arc::default();
        let mut space = space(&Arc::new(AtomicU64::new(1000)), &looks);
        for _ in 0..COMMITS_BETWEEN_LOOKS * 3 {
            space.check().unwrap();
            space.wrote(10);
        }
        assert_eq!(looks.load(Ordering::Relaxed), 3);
        space.wrote(BYTES_BETWEEN_LOOKS);
        space.check().unwrap();
        assert_eq!(looks.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_real_disk_says_how_much_is_free() {
        let folder = tempfile::tempdir().unwrap();
        Space::new(folder.path().into(), 1).check().unwrap();
        Space::new(folder.path().into(), u64::MAX).check().unwrap_err();
    }
}
