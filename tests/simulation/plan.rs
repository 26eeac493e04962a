//! What a seed does.

use std::time::Duration;

use dex::testing::FailAt;
use dex::{Channel, Options};

use crate::flow::Machine;

/// Runs of one simulation at most.
pub(crate) const RUNS: usize = 4;

/// The channel that a message goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    First,
    Second,
}

impl To {
    pub(crate) fn handle(self) -> Channel<Machine, u64> {
        match self {
            Self::First => Machine::FIRST,
            Self::Second => Machine::SECOND,
        }
    }
}

/// Something that is done to the engine.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Start { run: usize },
    Publish { run: usize, channel: To, settle: bool },
    Add { run: usize },
    Stop { run: usize },
    Look { run: usize },
    Advance(Duration),
    Restart,
    Compare,
    Fail { nth: u64, at: FailAt },
    FillDisk,
    FreeDisk,
}

/// All that a seed does, in order.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) operations: Vec<Operation>,
    pub(crate) options: Options,
    /// Whether the engine crashes after each transition.
    pub(crate) crashing: bool,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let crashing = random.below(4) == 0;
        let options =
            Options { idle_runs_max: random.place(3), timers_max: 1 + random.place(4), ..Options::default() };
        let mut operations = vec![Operation::Start { run: 0 }];
        operations.extend((0..60).map(|_| operation(&mut random)));
        Self { operations, options, crashing }
    }
}

fn operation(random: &mut Random) -> Operation {
    let run = random.place(RUNS);
    match random.below(100) {
        0..10 => Operation::Start { run },
        10..45 => {
            let channel = if random.below(3) == 0 { To::Second } else { To::First };
            Operation::Publish { run, channel, settle: random.below(2) == 0 }
        }
        45..55 => Operation::Add { run },
        55..57 => Operation::Stop { run },
        57..67 => Operation::Look { run },
        67..79 => Operation::Advance(Duration::from_millis(random.below(90_000))),
        79..85 => Operation::Restart,
        85..90 => Operation::Compare,
        90..96 => {
            let at = if random.below(2) == 0 { FailAt::BeforeWriting } else { FailAt::AfterWriting };
            Operation::Fail { nth: 1 + random.below(3), at }
        }
        96..98 => Operation::FillDisk,
        _ => Operation::FreeDisk,
    }
}

/// Source: Sebastiano Vigna, "splitmix64.c", public domain.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    pub(crate) fn place(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap()
    }
}
