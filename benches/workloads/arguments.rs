//! What is to be measured.

use std::fmt;

pub(crate) const USAGE: &str = "\
cargo bench --bench workloads -- [w1 … w10] [options]

  w1  one run of 200 steps, alone            w6  200 runs that sleep for a second
  w2  1,000 runs of 10 steps, at once        w7  w2 with async durability
  w3  200 messages, one after the other      w8  w2 in memory
  w4  10,000 runs that wait                  w9  one run with 10,000 branches
  w5  w4, killed and opened again           w10 one run with 1,000 sub-flows

  --runs N       repeats everything (1)
  --flows N      runs, messages or branches, where a workload has many
  --payload N    bytes of JSON that are passed from step to step (200)
  --store S      fjall or memory (fjall; w5 needs fjall, w8 is memory)";

/// What is measured, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    W1,
    W2,
    W3,
    W4,
    W5,
    W6,
    W7,
    W8,
    W9,
    W10,
}

impl Workload {
    pub(crate) const ALL: [Self; 10] =
        [Self::W1, Self::W2, Self::W3, Self::W4, Self::W5, Self::W6, Self::W7, Self::W8, Self::W9, Self::W10];
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Where runs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Fjall,
    Memory,
}

impl StoreKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Memory => "memory",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    pub(crate) workloads: Vec<Workload>,
    pub(crate) runs: usize,
    pub(crate) flows: Option<usize>,
    pub(crate) payload: usize,
    pub(crate) store: StoreKind,
}

impl Arguments {
    /// Reads the command line; `None` is a wish for help.
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut read =
            Self { workloads: Vec::new(), runs: 1, flows: None, payload: 200, store: StoreKind::Fjall };
        let mut words = words;
        while let Some(word) = words.next() {
            match word.as_str() {
                // Cargo says so to every benchmark.
                "--bench" => {}
                "--help" | "-h" => return Ok(None),
                "--runs" => read.runs = number(&word, words.next())?,
                "--flows" => read.flows = Some(number(&word, words.next())?),
                "--payload" => read.payload = number(&word, words.next())?,
                "--store" => {
                    read.store = match words.next().as_deref() {
                        Some("fjall") => StoreKind::Fjall,
                        Some("memory") => StoreKind::Memory,
                        other => return Err(format!("`--store` is `fjall` or `memory`, not {other:?}")),
                    }
                }
                name => match Workload::ALL.into_iter().find(|w| w.to_string().eq_ignore_ascii_case(name)) {
                    Some(workload) => read.workloads.push(workload),
                    None => return Err(format!("`{name}` is no workload and no option")),
                },
            }
        }
        if read.workloads.is_empty() {
            read.workloads = Workload::ALL.to_vec();
        }
        Ok(Some(read))
    }

    /// How many runs, where a workload has many.
    pub(crate) fn flows_or(&self, usual: usize) -> usize {
        self.flows.unwrap_or(usual)
    }
}

fn number(option: &str, word: Option<String>) -> Result<usize, String> {
    let number = word.as_deref().and_then(|word| word.parse().ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{option}` takes a number from 1, not {}", word.unwrap_or_default()))
}
