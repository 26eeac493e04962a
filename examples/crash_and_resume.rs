//! A process that dies in the middle of a step, and the next one that goes on.
//!
//! The program runs itself twice as a child on one data folder. The first child aborts while it develops the
//! pictures: no destructor runs, nothing is flushed, as after `kill -9`. The second child opens the folder,
//! and that is all it has to do: steps that counted are not run again, the one that was cut off is.
//!
//! What to look at: `develop` runs in both lives, `shoot` in one. A step may be attempted more than once;
//! its outcome counts once.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use dex::prelude::*;

/// Makes an album of some pictures.
struct Album {
    /// Which child this is, from 1.
    life: u32,
}

#[flow(output = String)]
impl Album {
    #[step(start)]
    async fn shoot(&self, pictures: u32) -> StepResult<Self> {
        self.tell("shoot");
        Ok(Next::to(Self::DEVELOP, pictures))
    }

    #[step(retry(initial = "10ms"))]
    async fn develop(&self, pictures: u32) -> StepResult<Self> {
        self.tell("develop");
        if self.life == 1 {
            println!("life 1: the process dies");
            std::process::abort();
        }
        Ok(Next::to(Self::BIND, pictures))
    }

    #[step]
    async fn bind(&self, pictures: u32) -> StepResult<Self> {
        self.tell("bind");
        Ok(Next::complete(format!("an album of {pictures} pictures")))
    }
}

impl Album {
    fn tell(&self, step: &str) {
        println!("life {}: {step}", self.life);
    }
}

/// What a child does. Both lives run the same code.
async fn live(life: u32, data: &Path) -> dex::Result<()> {
    let dex = Dex::open(data).flow(Album { life }).start().await?;
    let albums = dex.client::<Album>();
    let album = match albums.start("summer", 24).await {
        Err(error) if error.is_already_started() => albums.run("summer").await?,
        started => started?,
    };
    println!("life {life}: {}", album.output().await?);
    dex.shutdown(Duration::from_secs(1)).await
}

fn spawn_life(life: u32, data: &Path) -> std::io::Result<ExitStatus> {
    Command::new(std::env::current_exe()?).arg(life.to_string()).arg(data).status()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    if let (Some(life), Some(data)) = (arguments.next(), arguments.next()) {
        return Ok(live(life.parse()?, Path::new(&data)).await?);
    }

    let data = tempfile::tempdir()?;
    for life in [1, 2] {
        let status = spawn_life(life, data.path())?;
        println!("life {life} has ended {}", if status.success() { "well" } else { "badly" });
    }
    Ok(())
}
