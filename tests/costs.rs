//! What a step costs, in counts that are the same on every machine: allocations and their bytes, of all threads.
//!
//! A test of its own, alone in its process, since the whole process is counted. Times are a matter for
//! `cargo bench --bench workloads`; a change that makes steps dearer is mostly seen here already.

use alloc_tracker::{Allocator, Session};
use dex::Dex;
use dex::prelude::*;

#[global_allocator]
static ALLOCATOR: Allocator<std::alloc::System> = Allocator::system();

/// Steps of the run that is counted: so many that its start and its end count for nothing.
const STEPS: u32 = 2_000;

/// Bytes that each step hands to the next.
const FILLER: usize = 180;

/// Allocations of a step that reads its input and decides, everything included: the handler's own decoding and
/// encoding, the engine's checks in test builds, and the store in memory.
const ALLOCATIONS_MAX: f64 = 17.5;

/// Bytes that these take together.
const BYTES_MAX: f64 = 4_700.0;

struct Counted;

#[flow]
impl Counted {
    #[step(start)]
    async fn step(&self, (left, filler): (u32, String)) -> StepResult<Self> {
        Ok(match left.checked_sub(1) {
            Some(left) => Next::to(Self::STEP, (left, filler)),
            None => Next::complete(()),
        })
    }
}

#[tokio::test]
async fn a_step_allocates_no_more_than_it_did() -> dex::Result<()> {
    let dex = Dex::in_memory().flow(Counted).start().await?;
    // What is made once, and what grows to its size, is there before counting begins.
    run(&dex, "warm", STEPS).await?;
    let session = Session::new().no_stdout().no_file();
    let counted = session.operation("steps");
    {
        let _span = counted.measure_process().iterations(STEPS.into());
        run(&dex, "counted", STEPS).await?;
    }
    let report = session.to_report();
    let (_, steps) = report.operations().next().expect("one operation was measured");
    let (allocations, bytes) = (steps.allocations().unwrap_or_default(), steps.bytes().unwrap_or_default());
    assert!(
        allocations <= ALLOCATIONS_MAX && bytes <= BYTES_MAX,
        "a step makes {allocations:.1} allocations of {bytes:.0} bytes together, and made at most {ALLOCATIONS_MAX} of \
         {BYTES_MAX}: find out which are new; if they have to be, move the bound and say why"
    );
    Ok(())
}

async fn run(dex: &Dex, id: &str, steps: u32) -> dex::Result<()> {
    let run = dex.client::<Counted>().start(id, (steps - 1, "x".repeat(FILLER))).await?;
    run.output().await
}
