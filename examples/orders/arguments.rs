//! The command line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
usage: orders [--data DIR] [--patience MS] [--each] [FILE]

  FILE            orders as JSON lines, `-` for the standard input (default: examples/data/orders.jsonl)
  --data DIR      where the store and the shop's ledger are kept (default: ./dex-data/orders)
  --patience MS   how long to wait for a seller before a reminder, in milliseconds (default: 600)
  --each          say of each order how it ended";

/// What the program was asked to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) data: PathBuf,
    pub(crate) patience: Duration,
    pub(crate) each: bool,
    pub(crate) orders: Source,
}

/// Where the orders come from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    StandardInput,
}

impl Arguments {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    ///
    /// A sentence about the first word that makes no sense.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            data: "./dex-data/orders".into(),
            patience: Duration::from_millis(600),
            each: false,
            // The path of the sources, so that the example runs from any folder.
            orders: Source::File(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/orders.jsonl").into()),
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--data" => arguments.data = value()?.into(),
                "--patience" => {
                    let text = value()?;
                    let millis = text.parse().map_err(|e| format!("--patience {text}: {e}"))?;
                    arguments.patience = Duration::from_millis(millis);
                }
                "--each" => arguments.each = true,
                "-" => arguments.orders = Source::StandardInput,
                option if option.starts_with('-') => return Err(format!("unknown option {option}")),
                file => arguments.orders = Source::File(file.into()),
            }
        }
        Ok(arguments)
    }
}

impl Source {
    /// Opens it for reading, or says which one could not be.
    pub(crate) fn open(&self) -> io::Result<Box<dyn BufRead>> {
        match self {
            Self::StandardInput => Ok(Box::new(io::stdin().lock())),
            Self::File(path) => {
                let file = File::open(path).map_err(|e| {
                    io::Error::new(e.kind(), format!("{} cannot be read: {e}", path.display()))
                })?;
                Ok(Box::new(BufReader::new(file)))
            }
        }
    }
}
