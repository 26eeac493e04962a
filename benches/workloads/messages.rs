//! W3: a message to a run that waits, until the caller has the run's result.

use std::time::{Duration, Instant};

use crate::arguments::{Arguments, Workload};
use crate::figures::{Figures, percentile};
use crate::flows::Hear;
use crate::world::World;
use crate::{Outcome, floor};

pub(crate) async fn round_trips(arguments: &Arguments) -> Outcome {
    let count = arguments.flows_or(200);
    let world = World::open(arguments.store).await?;
    let mut times = Vec::with_capacity(count);
    for n in 0..=count {
        let took = round_trip(&world, format!("run-{n}"), arguments.payload).await?;
        // The first one warms everything up.
        times.extend((n > 0).then_some(took));
    }
    let sync = floor::sync(world.folder(), arguments.payload, 500)?;
    world.close().await?;
    let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
    Ok(Figures::of(Workload::W3, arguments.store)
        .count("messages", count)
        .count("payload", arguments.payload)
        .micros("p50_us", p50)
        .micros("p99_us", p99)
        .micros("fdatasync_us", sync)
        .micros("p50_beyond_two_syncs_us", p50.saturating_sub(2 * sync)))
}

async fn round_trip(world: &World, id: String, payload: usize) -> dex::Result<Duration> {
    let run = world.dex.client::<Hear>().start(id, String::new()).await?;
    // Until it waits: the message is to meet a run that does.
    while run.describe().await?.steps.iter().any(|step| step.phase == dex::inspect::StepPhase::Running) {
        tokio::task::yield_now().await;
    }
    let message = "x".repeat(payload);
    let start = Instant::now();
    run.publish(Hear::WORD, message).await?;
    run.output().await?;
    Ok(start.elapsed())
}
