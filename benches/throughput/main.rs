//! How the throughput of steps depends on what is going on: runs at once, payload, size of the store.
//!
//! ```text
//! cargo bench --bench throughput
//! cargo bench --bench throughput -- --store-runs 5000000 --plots docs/performance
//! ```
//!
//! Prints a table for each curve, and with `--plots` draws each as an SVG picture in that folder. Beside each point
//! stands what the store's bare group commit reaches with as many records of the same size, right after it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a measurement that cannot be made is none")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures for people"
)]
#![allow(clippy::disallowed_methods, reason = "what is measured is the time of the machine")]
#![allow(dead_code, reason = "flows and floors are shared with the workloads")]

#[path = "../workloads/arguments.rs"]
mod arguments;
mod curves;
#[path = "../workloads/figures.rs"]
mod figures;
#[path = "../workloads/floor.rs"]
mod floor;
#[path = "../workloads/flows.rs"]
mod flows;
mod picture;
#[path = "../workloads/world.rs"]
mod world;

use std::path::PathBuf;

use self::curves::Curve;

const USAGE: &str = "\
cargo bench --bench throughput -- [options]

  --store-runs N   runs in the largest store (1000000)
  --plots FOLDER   draws each curve there";

struct Arguments {
    store_runs: usize,
    plots: Option<PathBuf>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut read = Self { store_runs: 1_000_000, plots: None };
        while let Some(word) = words.next() {
            match word.as_str() {
                // Cargo says so to every benchmark.
                "--bench" => {}
                "--store-runs" => read.store_runs = words.next()?.parse().ok()?,
                "--plots" => read.plots = Some(words.next()?.into()),
                _ => return None,
            }
        }
        Some(read)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(arguments) = Arguments::read(std::env::args().skip(1)) else {
        println!("{USAGE}");
        return Ok(());
    };
    let curves = [
        curves::by_runs_at_once().await?,
        curves::by_payload().await?,
        curves::by_store(arguments.store_runs).await?,
    ];
    for curve in &curves {
        print(curve);
        if let Some(folder) = &arguments.plots {
            std::fs::create_dir_all(folder)?;
            picture::draw(curve, &folder.join(curve.file))?;
        }
    }
    Ok(())
}

fn print(curve: &Curve) {
    println!(
        "\n| {} | steps/s | records/s | records/s of the bare store | share |\n|---|---|---|---|---|",
        curve.by
    );
    for point in &curve.points {
        println!(
            "| {} | {:.0} | {:.0} | {:.0} | {:.0} % |",
            point.at,
            point.steps_per_s,
            point.records_per_s,
            point.floor,
            100.0 * point.records_per_s / point.floor
        );
    }
}
