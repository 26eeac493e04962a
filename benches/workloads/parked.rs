//! W4 and W5: runs that only wait, in this process and after it was killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::arguments::{Arguments, StoreKind, Workload};
use crate::figures::Figures;
use crate::flows::Hear;
use crate::world::{self, World};
use crate::{Outcome, machine};

/// Runs that are being started at the same time.
const AT_ONCE: usize = 1_000;

/// How long nothing happens before memory is looked at.
const QUIET: Duration = Duration::from_secs(15);

/// W4: what runs that wait cost.
pub(crate) async fn park(arguments: &Arguments) -> Outcome {
    let count = arguments.flows_or(10_000);
    let world = World::open(arguments.store).await?;
    start(&world.dex, AT_ONCE.min(count), arguments.payload, "warm").await?;
    let (idle, disk) = (machine::pss(), machine::disk(world.folder()));
    let started = Instant::now();
    start(&world.dex, count, arguments.payload, "run").await?;
    let seconds = started.elapsed().as_secs_f64();
    // What is written out in the background, once it is quiet, belongs to it; so does what an allocator gives back.
    tokio::time::sleep(QUIET).await;
    let grown = machine::pss().saturating_sub(idle);
    let written = machine::disk(world.folder()).saturating_sub(disk);
    world.close().await?;
    Ok(Figures::of(Workload::W4, arguments.store)
        .count("parked", count)
        .count("payload", arguments.payload)
        .figure("seconds", seconds)
        .figure("idle_pss_mib", mib(idle))
        .figure("grown_pss_mib", mib(grown))
        .figure("grown_bytes_each", grown as f64 / count as f64)
        .figure("disk_bytes_each", written as f64 / count as f64))
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Starts runs that wait for a message, and returns once they do.
async fn start(dex: &dex::Dex, count: usize, payload: usize, name: &str) -> dex::Result<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..count {
        if tasks.len() == AT_ONCE
            && let Some(done) = tasks.join_next().await
        {
            done.unwrap()?;
        }
        let (client, id) = (dex.client::<Hear>(), format!("{name}-{n}"));
        tasks.spawn(async move { client.start(id, "x".repeat(payload)).await.map(drop) });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap()?;
    }
    let last = dex.client::<Hear>().run(format!("{name}-{}", count - 1)).await?;
    while last.describe().await?.steps.iter().any(|step| step.phase == dex::inspect::StepPhase::Running) {
        tokio::task::yield_now().await;
    }
    Ok(())
}

const FOLDER: &str = "DEX_WORKLOAD_FOLDER";
const COUNT: &str = "DEX_WORKLOAD_COUNT";
const PAYLOAD: &str = "DEX_WORKLOAD_PAYLOAD";

/// Whether this process is the one that is to be killed.
pub(crate) fn is_child() -> bool {
    std::env::var_os(FOLDER).is_some()
}

/// Parks runs, says so, and waits for its end.
pub(crate) async fn child() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::var(FOLDER)?;
    let (count, payload) = (std::env::var(COUNT)?.parse()?, std::env::var(PAYLOAD)?.parse()?);
    let dex = world::open(StoreKind::Fjall, Path::new(&folder)).await?;
    start(&dex, count, payload, "run").await?;
    println!("parked");
    std::io::stdout().flush()?;
    std::future::pending::<()>().await;
    Ok(())
}

/// W5: from the opening of a store whose process was killed, to the result of one of its runs.
pub(crate) async fn open_again(arguments: &Arguments) -> Outcome {
    let count = arguments.flows_or(10_000);
    let folder = world::scratch();
    park_and_kill(folder.path(), count, arguments.payload)?;
    let start = Instant::now();
    let dex = world::open(StoreKind::Fjall, folder.path()).await?;
    let opened = start.elapsed();
    let run = dex.client::<Hear>().run(format!("run-{}", count / 2)).await?;
    run.publish(Hear::WORD, "wake up".into()).await?;
    run.output().await?;
    let answered = start.elapsed();
    dex.shutdown(Duration::from_secs(10)).await?;
    Ok(Figures::of(Workload::W5, StoreKind::Fjall)
        .count("parked", count)
        .count("payload", arguments.payload)
        .figure("open_s", opened.as_secs_f64())
        .figure("result_s", answered.as_secs_f64()))
}

fn park_and_kill(folder: &Path, count: usize, payload: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut child = Command::new(std::env::current_exe()?)
        .env(FOLDER, folder)
        .env(COUNT, count.to_string())
        .env(PAYLOAD, payload.to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("the child has no output")?;
    let mut said = String::new();
    BufReader::new(output).read_line(&mut said)?;
    child.kill()?;
    child.wait()?;
    if said.trim() == "parked" { Ok(()) } else { Err("the child did not park its runs".into()) }
}
