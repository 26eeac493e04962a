//! The curves: what is varied, and what is measured at each point.

use std::time::Instant;

use dex::Dex;
use tokio::task::JoinSet;

use crate::arguments::StoreKind;
use crate::floor;
use crate::flows::{Hear, Load, Steps};
use crate::world::World;

type Measured = Result<Curve, Box<dyn std::error::Error>>;

pub(crate) struct Curve {
    /// What is varied.
    pub(crate) by: &'static str,
    /// The picture's name.
    pub(crate) file: &'static str,
    pub(crate) points: Vec<Point>,
}

pub(crate) struct Point {
    pub(crate) at: usize,
    pub(crate) steps_per_s: f64,
    /// With the one for each start, as many as the store's own figure is about.
    pub(crate) records_per_s: f64,
    /// Records a second of the store's bare group commit.
    pub(crate) floor: f64,
}

/// Steps of a run.
const STEPS: usize = 10;

/// Bytes of a record beside its payload, about.
const RECORD_BYTES: usize = 24;

const PAYLOAD: usize = 200;

/// Runs at once where that is not what is varied.
const AT_ONCE: usize = 1_000;

/// Runs of a point: enough for a second or so.
const RUNS: usize = 4_000;

pub(crate) async fn by_runs_at_once() -> Measured {
    let mut points = Vec::new();
    for at_once in [1, 4, 16, 64, 256, 1_000, 10_000] {
        let world = World::open(StoreKind::Fjall).await?;
        // Alone, a step takes as long as a sync.
        let runs = (at_once * 40).clamp(40, RUNS.max(at_once));
        points.push(point(&world, at_once, at_once, runs, PAYLOAD).await?);
        world.close().await?;
    }
    Ok(Curve { by: "runs at once", file: "runs-at-once.svg", points })
}

pub(crate) async fn by_payload() -> Measured {
    /// Bytes that a point may write: the disk is shared.
    const BYTES_MAX: usize = 512 << 20;
    let mut points = Vec::new();
    for payload in [100, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10] {
        let world = World::open(StoreKind::Fjall).await?;
        let runs = (BYTES_MAX / (payload * STEPS)).min(RUNS);
        points.push(point(&world, payload, AT_ONCE.min(runs), runs, payload).await?);
        world.close().await?;
    }
    Ok(Curve { by: "bytes of payload", file: "payload.svg", points })
}

pub(crate) async fn by_store(largest: usize) -> Measured {
    let world = World::open(StoreKind::Fjall).await?;
    let mut points = Vec::new();
    let mut parked = 0;
    for size in [0, largest / 50, largest / 5, largest] {
        park(&world.dex, parked..size).await?;
        parked = size;
        points.push(point(&world, size, AT_ONCE, RUNS, PAYLOAD).await?);
    }
    world.close().await?;
    Ok(Curve { by: "runs in the store", file: "store.svg", points })
}

async fn park(dex: &Dex, numbers: std::ops::Range<usize>) -> dex::Result<()> {
    let mut tasks = JoinSet::new();
    for number in numbers {
        if tasks.len() == AT_ONCE
            && let Some(done) = tasks.join_next().await
        {
            done.unwrap()?;
        }
        let client = dex.client::<Hear>();
        tasks.spawn(
            async move { client.start(format!("parked-{number}"), "x".repeat(PAYLOAD)).await.map(drop) },
        );
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap()?;
    }
    Ok(())
}

/// Runs so many runs, `at_once` of them at any time.
async fn point(
    world: &World,
    at: usize,
    at_once: usize,
    runs: usize,
    payload: usize,
) -> Result<Point, Box<dyn std::error::Error>> {
    drive(&world.dex, format!("warm-{at}"), 1, 2, payload).await?;
    let start = Instant::now();
    drive(&world.dex, format!("run-{at}"), at_once, runs, payload).await?;
    let seconds = start.elapsed().as_secs_f64();
    let each = (STEPS + 1) * (runs / at_once).max(1);
    let floor = floor::group_commit(world.folder(), at_once, each, payload + RECORD_BYTES).await?;
    let steps_per_s = (runs * STEPS) as f64 / seconds;
    let records_per_s = (runs * (STEPS + 1)) as f64 / seconds;
    Ok(Point { at, steps_per_s, records_per_s, floor })
}

async fn drive(dex: &Dex, name: String, at_once: usize, runs: usize, payload: usize) -> dex::Result<()> {
    let mut tasks = JoinSet::new();
    for task in 0..at_once {
        let (client, name) = (dex.client::<Steps>(), name.clone());
        let mine = (task..runs).step_by(at_once);
        tasks.spawn(async move {
            for number in mine {
                let load = Load::new(u32::try_from(STEPS).unwrap(), payload);
                client.start(format!("{name}-{number}"), load).await?.output().await?;
            }
            Ok::<_, dex::Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap()?;
    }
    Ok(())
}
