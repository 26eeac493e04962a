//! W6: how late timers fire.

use std::time::Duration;

use crate::Outcome;
use crate::arguments::{Arguments, Workload};
use crate::figures::{Figures, percentile};
use crate::flows::Doze;
use crate::world::World;

const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn lateness(arguments: &Arguments) -> Outcome {
    let count = arguments.flows_or(200);
    let world = World::open(arguments.store).await?;
    let client = world.dex.client::<Doze>();
    let mut runs = Vec::with_capacity(count);
    for n in 0..count {
        runs.push(client.start(format!("run-{n}"), PAUSE).await?);
    }
    let (mut late, mut early) = (Vec::with_capacity(count), 0);
    for run in runs {
        let woken = run.output().await?;
        match woken.at.duration_since(woken.due) {
            Ok(by) => late.push(by),
            Err(_) => early += 1,
        }
    }
    world.close().await?;
    Ok(Figures::of(Workload::W6, arguments.store)
        .count("timers", count)
        .count("early", early)
        .micros("late_p50_us", percentile(&mut late, 0.5))
        .micros("late_p99_us", percentile(&mut late, 0.99)))
}
