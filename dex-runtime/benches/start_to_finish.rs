//! Whole runs on the embedded store, against what the disk allows for the same bytes in the same process.
//!
//! `cargo bench -p dex-runtime --bench start_to_finish`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program that prints"
)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use dex_runtime::Dex;
use dex_runtime::store::Store;
use dex_runtime::store::fjall::{FjallOptions, FjallStore};
use support::floor;
use support::{Load, Steps};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let bytes = record_bytes(folder.path()).await?;
    println!("A record of a trivial step has {bytes} bytes; the floors append as many.\n");
    println!("| what | figure | floor | ratio |\n|---|---|---|---|");
    for _ in 0..3 {
        lone(folder.path(), bytes).await?;
        many(folder.path(), bytes).await?;
    }
    Ok(())
}

/// Mean size of the records that a run of trivial steps leaves in a store.
async fn record_bytes(folder: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let store = tempfile::tempdir_in(folder)?;
    let dex = Dex::open(store.path()).flow(Steps).start().await?;
    let run = dex.client::<Steps>().start("one", Load::new(100)).await?;
    run.output().await?;
    dex.shutdown(Duration::from_secs(5)).await?;
    let store = FjallStore::open(store.path(), FjallOptions::default())?;
    let records = store.history(run.run_id(), 1, 1_000)?;
    Ok(records.iter().map(|record| record.record.len()).sum::<usize>() / records.len())
}

/// One run of 200 steps, alone: time per step, as a multiple of one fdatasync.
async fn lone(folder: &Path, bytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    const STEPS: u32 = 200;
    let dex = Dex::open(tempfile::tempdir_in(folder)?.path()).flow(Steps).start().await?;
    let client = dex.client::<Steps>();
    client.start("warm", Load::new(20)).await?.output().await?;
    let start = Instant::now();
    client.start("lone", Load::new(STEPS)).await?.output().await?;
    let step = start.elapsed() / STEPS;
    let sync = floor::lone_sync(folder, bytes, 500)?;
    println!(
        "| lone run, 200 sync steps | {step:.1?} a step | {sync:.1?} a sync | {:.2} × |",
        step.as_secs_f64() / sync.as_secs_f64()
    );
    dex.shutdown(Duration::from_secs(5)).await?;
    Ok(())
}

/// 1,000 runs of 10 steps at once: steps per second, as a share of the bare group commit.
async fn many(folder: &Path, bytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    const RUNS: usize = 1_000;
    const STEPS: u32 = 10;
    let dex = Dex::open(tempfile::tempdir_in(folder)?.path()).flow(Steps).start().await?;
    let client = dex.client::<Steps>();
    client.start("warm", Load::new(20)).await?.output().await?;
    let start = Instant::now();
    let runs: Vec<_> = (0..RUNS)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                let run = client.start(format!("run-{n}"), Load::new(STEPS)).await?;
                run.output().await
            })
        })
        .collect();
    for run in runs {
        run.await??;
    }
    let steps = (RUNS * STEPS as usize) as f64 / start.elapsed().as_secs_f64();
    // One record for the start and one for each step, as many as the runs wrote.
    let floor = floor::group_commit(folder, RUNS, STEPS as usize + 1, bytes).await?;
    println!(
        "| 1,000 runs × 10 sync steps | {steps:.0} steps/s | {floor:.0} records/s | {:.0} % |",
        100.0 * steps / floor
    );
    dex.shutdown(Duration::from_secs(5)).await?;
    Ok(())
}
