//! How long a crate with a big flow takes to check, cold and after an edit, and how much of that is the macro.
//!
//! `cargo bench -p dex-macros --bench compile_time` measures a flow of 50 steps; `-- 50 200` measures flows of
//! those sizes. The crate is made in a temporary folder, with dex as a path dependency and this workspace's
//! `Cargo.lock`, and checked by the cargo that runs this program, offline and with a target folder of its own.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

mod flow;
mod project;

use std::process::ExitCode;
use std::time::Duration;

use flow::Flow;
use project::{Failed, Project};

/// Steps of the flow that is measured if nothing is said: more than most flows have.
const STEPS: usize = 50;

/// Checks of each kind. The median is what a user sees, the best one what a machine without other work would show.
const ROUNDS: usize = 7;

/// Cold checks, which take longer and vary less.
const COLD_ROUNDS: usize = 3;

/// What the design asks of a check after an edit of a body, with [`STEPS`] steps.
const TARGET: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    // Cargo itself passes `--bench`.
    let given: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let sizes: Result<Vec<usize>, _> = given.iter().map(|word| word.parse()).collect();
    let sizes = match sizes {
        Ok(sizes) if sizes.is_empty() => vec![STEPS],
        Ok(sizes) if !sizes.contains(&0) => sizes,
        _ => {
            eprintln!("expected numbers of steps, each at least 1: `-- 50 200`");
            return ExitCode::from(2);
        }
    };
    match measure_all(&sizes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("{failed}");
            ExitCode::FAILURE
        }
    }
}

fn measure_all(sizes: &[usize]) -> Result<(), Failed> {
    let mut project = Project::create()?;
    println!("dependencies, checked once: {:.1} s\n", project.dependencies()?.as_secs_f64());
    println!(
        "| steps | lines | cold check | after a body edit | target | after a new step | nothing changed | the macro |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for steps in sizes {
        println!("{}", measure(&mut project, *steps)?);
    }
    println!(
        "\nThe median of {ROUNDS} checks each, of {COLD_ROUNDS} cold ones; the best of them in brackets. \"The macro\" is how much longer the compiler takes to read \
         the crate, expand its macros and resolve its names, with the flow than with the flow under a `cfg` that leaves it out."
    );
    Ok(())
}

/// One row of the table.
fn measure(project: &mut Project, steps: usize) -> Result<String, Failed> {
    let flow = Flow::new(steps);
    project.write(&flow.source())?;
    let cold = times(COLD_ROUNDS, |_| {
        project.forget()?;
        project.check()
    })?;
    let edited = times(ROUNDS, |round| {
        project.write(&flow.edited(round).source())?;
        project.check()
    })?;
    let grown = times(ROUNDS, |_| {
        project.write(&flow.source())?;
        project.check()?;
        project.write(&Flow::new(steps + 1).source())?;
        project.check()
    })?;
    let unchanged = times(ROUNDS, |_| project.check())?;
    // Either stops before types are looked at.
    let expanded = times(ROUNDS, |_| project.expand(&flow.source()))?;
    let left_out = times(ROUNDS, |_| project.expand(&flow.left_out()))?;
    let expansion = expanded.best.saturating_sub(left_out.best);
    let target = if edited.median < TARGET { "met" } else { "missed" };
    Ok(format!(
        "| {steps} | {} | {cold} | {edited} | < {} s: {target} | {grown} | {unchanged} | {:.0} ms |",
        flow.source().lines().count(),
        TARGET.as_secs(),
        expansion.as_secs_f64() * 1e3,
    ))
}

/// What several rounds took.
struct Times {
    median: Duration,
    best: Duration,
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} s ({:.2})", self.median.as_secs_f64(), self.best.as_secs_f64())
    }
}

/// The times of `rounds` rounds; each is told its number, from 1.
fn times(rounds: usize, mut round: impl FnMut(usize) -> Result<Duration, Failed>) -> Result<Times, Failed> {
    let mut all = (1..=rounds).map(&mut round).collect::<Result<Vec<_>, _>>()?;
    all.sort_unstable();
    let at = |place| all.get(place).copied().unwrap_or_default();
    Ok(Times { median: at(rounds / 2), best: at(0) })
}
