//! Workloads on a whole engine, each with what the machine allows for the same work in the same process.
//!
//! ```text
//! cargo bench --bench workloads
//! cargo bench --bench workloads -- w2 w8 --runs 3 --flows 1000 --payload 200 --store fjall
//! ```
//!
//! Each result is one line of JSON, so that a script can compare two builds. Nothing here asserts a time: the
//! machine may be busy.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a measurement that cannot be made is none")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures for people"
)]
#![allow(clippy::disallowed_methods, reason = "what is measured is the time of the machine")]

mod arguments;
mod families;
mod figures;
mod floor;
mod flows;
mod machine;
mod messages;
mod parked;
mod steps;
mod timers;
mod world;

use self::arguments::{Arguments, USAGE, Workload};
use self::figures::Figures;

type Outcome = Result<Figures, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if parked::is_child() {
        return parked::child().await;
    }
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}");
            return Ok(());
        }
        Err(mistake) => {
            eprintln!("{mistake}\n\n{USAGE}");
            std::process::exit(2);
        }
    };
    for _ in 0..arguments.runs {
        for workload in &arguments.workloads {
            println!("{}", run(*workload, &arguments).await?);
        }
    }
    Ok(())
}

async fn run(workload: Workload, arguments: &Arguments) -> Outcome {
    match workload {
        Workload::W1 => steps::lone(arguments).await,
        Workload::W2 => steps::many(arguments).await,
        Workload::W3 => messages::round_trips(arguments).await,
        Workload::W4 => parked::park(arguments).await,
        Workload::W5 => parked::open_again(arguments).await,
        Workload::W6 => timers::lateness(arguments).await,
        Workload::W7 => steps::many_async(arguments).await,
        Workload::W8 => steps::many_in_memory(arguments).await,
        Workload::W9 => steps::fan_out(arguments).await,
        Workload::W10 => families::family(arguments).await,
    }
}
