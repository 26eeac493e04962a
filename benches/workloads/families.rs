//! W10: a run that waits for many runs of another flow.

use std::time::Instant;

use crate::arguments::{Arguments, Workload};
use crate::figures::Figures;
use crate::flows::{Family, Load};
use crate::world::World;
use crate::{Outcome, machine};

/// With a tenth of the children as well: what a child costs must not grow.
pub(crate) async fn family(arguments: &Arguments) -> Outcome {
    let most = arguments.flows_or(1_000);
    let few = (most / 10).max(1);
    let world = World::open(arguments.store).await?;
    children(&world, "warm", few.min(10)).await?;
    let small = children(&world, "few", few).await?;
    let (usage, disk) = (machine::Usage::now(), machine::disk(world.folder()));
    let large = children(&world, "many", most).await?;
    let (written, disk) = (usage.written_since(), machine::disk(world.folder()).saturating_sub(disk));
    world.close().await?;
    Ok(Figures::of(Workload::W10, arguments.store)
        .count("children", most)
        .figure("seconds", large)
        .figure("child_us", 1e6 * large / most as f64)
        .figure("child_us_of_a_tenth", 1e6 * small / few as f64)
        .figure("growth", (large / most as f64) / (small / few as f64))
        .figure("written_bytes_per_child", written as f64 / most as f64)
        .figure("disk_bytes_per_child", disk as f64 / most as f64))
}

/// Seconds from the start of a run with so many children, of one step each, to its end.
async fn children(world: &World, id: &str, count: usize) -> dex::Result<f64> {
    let loads = vec![Load::new(1, 60); count];
    let start = Instant::now();
    let run = world.dex.client::<Family>().start(id, loads).await?;
    assert_eq!(run.output().await?, count);
    Ok(start.elapsed().as_secs_f64())
}
