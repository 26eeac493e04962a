//! What the process has used, as Linux tells it; zero elsewhere.

use std::fs;
use std::path::Path;

/// What the process has used so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    cpu_seconds: f64,
    /// Bytes that went to the disk, as the kernel counts them.
    written: u64,
}

impl Usage {
    pub(crate) fn now() -> Self {
        Self { cpu_seconds: cpu_seconds(), written: field("/proc/self/io", "write_bytes:") }
    }

    /// CPU seconds, of all threads, since then.
    pub(crate) fn cpu_since(self) -> f64 {
        Self::now().cpu_seconds - self.cpu_seconds
    }

    /// Bytes given to the disk since then.
    pub(crate) fn written_since(self) -> u64 {
        Self::now().written.saturating_sub(self.written)
    }
}

/// Ticks of CPU time in `/proc/self/stat` in a second, on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name, which may hold anything but a closing bracket at its end.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// Memory of the process that it shares with nobody, and its part of what it shares: bytes.
pub(crate) fn pss() -> u64 {
    field("/proc/self/smaps_rollup", "Pss:") * 1_024
}

/// Most memory that the process ever had at once: bytes.
pub(crate) fn peak_rss() -> u64 {
    field("/proc/self/status", "VmHWM:") * 1_024
}

/// Lets the peak begin anew from what is used now.
pub(crate) fn forget_peak() {
    // Not allowed everywhere; the peak is then that of the whole process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn field(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Bytes that a folder takes on the disk, without holes in its files.
pub(crate) fn disk(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => disk(&entry.path()),
            Ok(metadata) => allocated(&metadata),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(unix)]
fn allocated(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.blocks() * 512
}

#[cfg(not(unix))]
fn allocated(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
