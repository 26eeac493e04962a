//! The ledger: what was really done, one JSON line each, in the order of doing.

use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Something that costs money or cannot be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    Charge,
    Shipment,
    Refund,
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Charge => "charge",
            Self::Shipment => "shipment",
            Self::Refund => "refund",
        })
    }
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub deed: Deed,
    pub order: String,
    pub cents: u64,
    /// The idempotency key under which it was asked for.
    pub key: String,
}

/// The file and, in memory, what is in it.
pub struct Ledger {
    file: File,
    by_key: HashMap<String, Entry>,
    /// Where a line begins that a killed process did not finish.
    torn_at: Option<u64>,
}

impl Ledger {
    /// Opens the ledger at `path`, or begins one.
    ///
    /// A last line without its end is as good as not written: whoever asked for it got no answer. It is only
    /// cut off by the first append, so that a process that merely looks cannot harm one that writes.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole_bytes = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let torn_at = (whole_bytes < bytes.len()).then_some(whole_bytes as u64);
        bytes.truncate(whole_bytes);
        let by_key = parse(&bytes)?.into_iter().map(|entry| (entry.key.clone(), entry)).collect();
        Ok(Self { file, by_key, torn_at })
    }

    /// Whether something was done under this key.
    pub fn contains(&self, key: &str) -> bool {
        self.by_key.contains_key(key)
    }

    /// What was done, in no particular order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.by_key.values()
    }

    /// Writes a line, unless there is one with this key.
    pub fn append(&mut self, entry: Entry) -> io::Result<()> {
        if self.contains(&entry.key) {
            return Ok(());
        }
        if let Some(at) = self.torn_at {
            self.file.set_len(at)?;
            self.torn_at = None;
        }
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        // One call for the whole line: a process that is killed has written it or not.
        self.file.write_all(&line)?;
        self.by_key.insert(entry.key.clone(), entry);
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> io::Result<Vec<Entry>> {
    let lines = bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_slice(line).map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {error}", at + 1))
            })
        })
        .collect()
}
