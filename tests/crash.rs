//! `orders` is killed at random moments, thirty times over, and nothing is lost or done twice.
// SIGKILL is a matter of Unix. The helpers are tests too, for the lints that spare tests.
#![cfg(unix)]
#![cfg(test)]

#[path = "examples/programs.rs"]
mod programs;
#[path = "../examples/shop/mod.rs"]
mod shop;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use programs::{example, run_well};
use shop::{Deed, Entry};

const ROUNDS: usize = 30;

/// A process is killed this long after it began its work, at the latest. Long enough for some orders to end,
/// short enough that most are on their way.
const KILLED_AFTER_MS_MAX: u64 = 400;

/// Every so many lives, the clock runs from the start of the process, so that the opening is cut off as well.
/// Not in each: on a slow disk, none would get beyond it.
const OPENING_EVERY: usize = 3;

/// Set it to repeat a run with the same moments.
const SEED: &str = "DEX_CRASH_SEED";

const ORDERS: &str = include_str!("../examples/data/orders.jsonl");

#[test]
fn killing_the_process_thirty_times_loses_nothing_and_does_nothing_twice() {
    let seed = seed();
    println!("{SEED}={seed}");
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut killed = 0;
    for round in 1..=ROUNDS {
        // Each round brings new orders, so that there is always something to cut off.
        let orders_so_far = ORDERS.lines().count() * round / ROUNDS;
        write_orders(folder, orders_so_far);
        let from = if round % OPENING_EVERY == 0 { From::Start } else { From::FirstProgress };
        let moment = Duration::from_millis(random.below(KILLED_AFTER_MS_MAX));
        killed += usize::from(kill_after(from, moment, orders(folder).stdout(report(folder))));
    }
    println!("{killed} of {ROUNDS} processes were killed before their end");
    assert!(killed >= ROUNDS / 2, "only {killed} of {ROUNDS} processes were killed before their end");

    let last = run_well(&mut orders(folder));
    println!("{last}");
    let ends = ends_in(&last);
    assert_eq!(ends.len(), 200, "{last}");
    what_was_said_before_still_holds(&std::fs::read_to_string(folder.join("report.txt")).unwrap(), &ends);
    what_was_said_is_what_was_done(&ends, &deeds_in(&folder.join("data/ledger.jsonl")));
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
    command.args(["--data", "data", "--patience", "150", "--each", "orders.jsonl"]);
    command
}

/// Where the killed processes say how orders ended.
fn report(folder: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(folder.join("report.txt")).unwrap()
}

/// From when the time to the kill is counted.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Start,
    /// The program shows its progress as soon as the store is open.
    FirstProgress,
}

/// Starts a process, kills it with SIGKILL, and says whether it was still alive.
fn kill_after(from: From, moment: Duration, command: &mut Command) -> bool {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut progress = BufReader::new(child.stderr.take().unwrap());
    if from == From::FirstProgress {
        progress.read_line(&mut String::new()).unwrap();
    }
    // The moment is what is tested; there is nothing to wait for instead.
    std::thread::sleep(moment);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.success() || status.code().is_none(), "the process ended by itself with {status}");
    !status.success()
}

/// How orders ended, by id, from lines such as `order A-10403: shipped`. Other lines are no concern here.
fn ends_in(said: &str) -> BTreeMap<&str, &str> {
    said.lines().filter_map(|line| line.strip_prefix("order ")?.split_once(": ")).collect()
}

/// An outcome that a client was given is durable, so no later life may tell of another one.
fn what_was_said_before_still_holds(report: &str, ends: &BTreeMap<&str, &str>) {
    let mut said = 0;
    // A last line without its end may have been cut off by a kill.
    for line in report.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        for (order, end) in ends_in(line) {
            assert_eq!(ends.get(order), Some(&end), "order {order} ended otherwise before");
            said += 1;
        }
    }
    assert!(said > 0, "no order ended in a life that was killed, so nothing was checked");
}

/// What the world saw of one order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Deeds {
    charges: usize,
    shipments: usize,
    refunds: usize,
}

/// Read line by line and not through the shop, which would hide a repeated key.
fn deeds_in(ledger: &Path) -> BTreeMap<String, Deeds> {
    let mut all: BTreeMap<String, Deeds> = BTreeMap::new();
    let text = std::fs::read_to_string(ledger).unwrap();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let entry: Entry = serde_json::from_str(line).unwrap();
        let deeds = all.entry(entry.order).or_default();
        match entry.deed {
            Deed::Charge => deeds.charges += 1,
            Deed::Shipment => deeds.shipments += 1,
            Deed::Refund => deeds.refunds += 1,
        }
    }
    all
}

/// Each order has one outcome, one charge at most, and no charge without a shipment or a refund.
fn what_was_said_is_what_was_done(ends: &BTreeMap<&str, &str>, world: &BTreeMap<String, Deeds>) {
    for (&order, &end) in ends {
        let (charges, shipments, refunds) = match end {
            "card refused" => (0, 0, 0),
            "shipped" => (1, 1, 0),
            refunded if refunded.starts_with("refunded: ") => (1, 0, 1),
            other => panic!("order {order} ended as {other:?}"),
        };
        let nothing = Deeds::default();
        let done = world.get(order).unwrap_or(&nothing);
        assert_eq!(done, &Deeds { charges, shipments, refunds }, "order {order}: {end}");
    }
    assert!(world.keys().all(|order| ends.contains_key(order.as_str())), "an order that nobody gave");
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
