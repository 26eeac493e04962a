//! `orders` is killed at random moments, thirty times over, and nothing is lost or done twice.
// SIGKILL is a matter of Unix. The helpers are tests too, for the lints that spare tests.
#![cfg(all(test, unix))]

#[path = "examples/programs.rs"]
mod programs;
#[path = "../examples/shop/mod.rs"]
mod shop;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use programs::{example, run_well};
use shop::{Deed, Entry};

const ROUNDS: usize = 30;

/// A process is killed this long after its start, at the latest. Long enough for some orders to end, short
/// enough that most are on their way.
const KILLED_AFTER_MS_MAX: u64 = 450;

/// Set it to repeat a run with the same moments.
const SEED: &str = "DEX_CRASH_SEED";

const ORDERS: &str = include_str!("../examples/data/orders.jsonl");

#[test]
fn killing_the_process_thirty_times_loses_nothing_and_does_nothing_twice() {
    let seed = seed();
    println!("{SEED}={seed}");
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut killed = 0;
    for round in 1..=ROUNDS {
        // Each round brings new orders, so that there is always something to cut off.
        let orders_so_far = ORDERS.lines().count() * round / ROUNDS;
        write_orders(folder.path(), orders_so_far);
        let moment = Duration::from_millis(random.below(KILLED_AFTER_MS_MAX));
        killed += usize::from(kill_after(moment, &mut orders(folder.path())));
    }
    println!("{killed} of {ROUNDS} processes were killed before their end");
    assert!(killed >= ROUNDS / 2, "only {killed} of {ROUNDS} processes were killed before their end");

    let summary = run_well(&mut orders(folder.path()));
    println!("{summary}");
    check(&summary, &folder.path().join("data/ledger.jsonl"));
}

fn seed() -> u64 {
    match std::env::var(SEED) {
        Ok(text) => text.parse().unwrap(),
        Err(_) => since_epoch().as_secs(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a seed may be any number, as long as it is printed")]
fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

fn write_orders(folder: &Path, count: usize) {
    let lines: String = ORDERS.split_inclusive('\n').take(count).collect();
    std::fs::write(folder.join("orders.jsonl"), lines).unwrap();
}

fn orders(folder: &Path) -> Command {
    let mut command = example("orders", folder);
    command.args(["--data", "data", "--patience", "150", "orders.jsonl"]);
    command
}

/// Starts a process, kills it with SIGKILL, and says whether it was still alive.
fn kill_after(moment: Duration, command: &mut Command) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
    // The moment is what is tested; there is nothing to wait for instead.
    std::thread::sleep(moment);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.success() || status.code().is_none(), "the process ended by itself with {status}");
    !status.success()
}

/// What the world saw of one order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Deeds {
    charges: usize,
    shipments: usize,
    refunds: usize,
}

fn check(summary: &str, ledger: &Path) {
    let mut world: HashMap<String, Deeds> = HashMap::new();
    for line in std::fs::read_to_string(ledger).unwrap().split_inclusive('\n') {
        // The last line may have been cut off by a kill.
        let Some(line) = line.strip_suffix('\n') else { continue };
        let entry: Entry = serde_json::from_str(line).unwrap();
        let deeds = world.entry(entry.order.clone()).or_default();
        match entry.deed {
            Deed::Charge => deeds.charges += 1,
            Deed::Shipment => deeds.shipments += 1,
            Deed::Refund => deeds.refunds += 1,
        }
    }
    for (order, deeds) in &world {
        assert_eq!(deeds.charges, 1, "order {order}: {deeds:?}");
        assert_eq!(deeds.shipments + deeds.refunds, 1, "order {order}: {deeds:?}");
    }

    let outcomes = outcomes(summary);
    let ended_as = |start: &str| -> usize {
        outcomes.iter().filter(|(outcome, _)| outcome.starts_with(start)).map(|(_, count)| count).sum()
    };
    assert_eq!(ended_as("in all"), 200, "{summary}");
    assert_eq!(ended_as("failed"), 0, "{summary}");
    assert_eq!(ended_as("shipped"), world.values().map(|deeds| deeds.shipments).sum::<usize>(), "{summary}");
    assert_eq!(ended_as("refunded"), world.values().map(|deeds| deeds.refunds).sum::<usize>(), "{summary}");
    assert_eq!(ended_as("card refused"), 200 - world.len(), "{summary}");
}

/// The lines of a summary: `    14  card refused`.
fn outcomes(summary: &str) -> BTreeMap<&str, usize> {
    let rows = summary.lines().map(|line| line.trim_start().split_once("  ").unwrap());
    rows.map(|(count, outcome)| (outcome, count.parse().unwrap())).collect()
}

/// `SplitMix64`: enough to pick moments, and the same for a seed everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
