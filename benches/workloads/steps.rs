//! W1, W2, W7, W8, W9: steps.

use std::ops::Deref;
use std::time::Instant;

use dex::{Client, Flow, RunHandle};

use crate::arguments::{Arguments, StoreKind, Workload};
use crate::figures::Figures;
use crate::flows::{AsyncSteps, Branches, Load, Steps};
use crate::world::World;
use crate::{Outcome, floor, machine};

/// Steps of each of many runs.
const STEPS: u32 = 10;

/// Bytes of a record beside its payload, about: the step's name, numbers, the time.
const RECORD_BYTES: usize = 24;

/// W1: one run, alone.
pub(crate) async fn lone(arguments: &Arguments) -> Outcome {
    const STEPS: u32 = 200;
    let world = World::open(arguments.store).await?;
    let client = world.dex.client::<Steps>();
    client.start("warm", Load::new(20, arguments.payload)).await?.output().await?;
    let start = Instant::now();
    client.start("lone", Load::new(STEPS, arguments.payload)).await?.output().await?;
    let step = start.elapsed() / STEPS;
    let sync = floor::sync(world.folder(), arguments.payload + RECORD_BYTES, 500)?;
    world.close().await?;
    Ok(Figures::of(Workload::W1, arguments.store)
        .count("payload", arguments.payload)
        .micros("step_us", step)
        .micros("fdatasync_us", sync)
        .figure("step_of_fdatasync", step.as_secs_f64() / sync.as_secs_f64()))
}

/// W2: many runs, started as fast as they are accepted.
pub(crate) async fn many(arguments: &Arguments) -> Outcome {
    many_of::<Steps>(Workload::W2, arguments, arguments.store).await
}

/// W7: W2 with async durability.
pub(crate) async fn many_async(arguments: &Arguments) -> Outcome {
    many_of::<AsyncSteps>(Workload::W7, arguments, arguments.store).await
}

/// W8: W2 without a disk.
pub(crate) async fn many_in_memory(arguments: &Arguments) -> Outcome {
    many_of::<Steps>(Workload::W8, arguments, StoreKind::Memory).await
}

async fn many_of<F>(workload: Workload, arguments: &Arguments, store: StoreKind) -> Outcome
where
    F: Flow<Input = Load, Output = (), Run: Deref<Target = RunHandle<F>>>,
{
    let (runs, payload) = (arguments.flows_or(1_000), arguments.payload);
    let world = World::open(store).await?;
    let client = world.dex.client::<F>();
    start_and_end(&client, "warm".into(), payload).await?;
    machine::forget_peak();
    let (usage, start) = (machine::Usage::now(), Instant::now());
    let tasks: Vec<_> = (0..runs)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { start_and_end(&client, format!("run-{n}"), payload).await })
        })
        .collect();
    let mut started = start;
    for task in tasks {
        started = started.max(task.await??);
    }
    let seconds = start.elapsed().as_secs_f64();
    let (cpu, written) = (usage.cpu_since(), usage.written_since());
    let steps = runs * STEPS as usize;
    let mut figures = Figures::of(workload, store)
        .count("flows", runs)
        .count("payload", payload)
        .figure("steps_per_s", steps as f64 / seconds)
        .figure("starts_per_s", runs as f64 / (started - start).as_secs_f64())
        .figure("cpu_us_per_step", 1e6 * cpu / steps as f64)
        .figure("peak_rss_mib", machine::peak_rss() as f64 / f64::from(1 << 20));
    if store == StoreKind::Fjall {
        // One record for the start and one for each step, each under one key.
        let each = STEPS as usize + 1;
        let floor = floor::group_commit(world.folder(), runs, each, payload + RECORD_BYTES).await?;
        let records = (runs * each) as f64 / seconds;
        figures = figures
            .figure("written_bytes_per_step", written as f64 / steps as f64)
            .figure("disk_mib", machine::disk(world.folder()) as f64 / f64::from(1 << 20))
            .figure("store_records_per_s", floor)
            .figure("share_of_store", records / floor);
    }
    world.close().await?;
    Ok(figures)
}

/// Gives when the start was accepted.
async fn start_and_end<F>(client: &Client<F>, id: String, payload: usize) -> dex::Result<Instant>
where
    F: Flow<Input = Load, Output = (), Run: Deref<Target = RunHandle<F>>>,
{
    let run = client.start(id, Load::new(STEPS, payload)).await?;
    let accepted = Instant::now();
    run.output().await?;
    Ok(accepted)
}

/// W9: one run with many branches, and the same with a tenth of them: what a branch costs must not grow.
pub(crate) async fn fan_out(arguments: &Arguments) -> Outcome {
    let most = arguments.flows_or(10_000);
    let few = (most / 10).max(1);
    let world = World::open(arguments.store).await?;
    branches(&world, "warm", few.min(100), arguments.payload).await?;
    let small = branches(&world, "few", few, arguments.payload).await?;
    let large = branches(&world, "many", most, arguments.payload).await?;
    world.close().await?;
    Ok(Figures::of(Workload::W9, arguments.store)
        .count("branches", most)
        .count("payload", arguments.payload)
        .figure("branches_per_s", most as f64 / large)
        .figure("branch_us", 1e6 * large / most as f64)
        .figure("branch_us_of_a_tenth", 1e6 * small / few as f64)
        .figure("growth", (large / most as f64) / (small / few as f64)))
}

/// Seconds from the start of a run with so many branches to its end.
async fn branches(world: &World, id: &str, count: usize, payload: usize) -> dex::Result<f64> {
    let loads = vec![Load::new(1, payload.min(60)); count];
    let start = Instant::now();
    let run = world.dex.client::<Branches>().start(id, loads).await?;
    assert_eq!(run.output().await?, count);
    Ok(start.elapsed().as_secs_f64())
}
