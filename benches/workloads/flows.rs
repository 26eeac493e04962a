//! Flows that do nothing but what is measured.

use std::time::{Duration, SystemTime};

use dex::prelude::*;
use serde::{Deserialize, Serialize};

/// What is passed from step to step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Steps that are still to come.
    left: u32,
    /// What makes it large.
    filler: String,
}

/// Bytes of JSON of a load without its filler, about.
const LOAD_BYTES: usize = 25;

impl Load {
    /// The load of a run of `steps` steps, with about `bytes` bytes.
    pub(crate) fn new(steps: u32, bytes: usize) -> Self {
        Self { left: steps - 1, filler: "x".repeat(bytes.saturating_sub(LOAD_BYTES)) }
    }

    fn next(self) -> Option<Self> {
        Some(Self { left: self.left.checked_sub(1)?, filler: self.filler })
    }
}

/// One step after the other.
pub(crate) struct Steps;

#[flow]
impl Steps {
    #[step(start)]
    async fn step(&self, load: Load) -> StepResult<Self> {
        Ok(load.next().map_or_else(|| Next::complete(()), |load| Next::to(Self::STEP, load)))
    }
}

/// The same, without waiting for the disk between two steps.
pub(crate) struct AsyncSteps;

#[flow]
impl AsyncSteps {
    #[step(start, durability = async)]
    async fn step(&self, load: Load) -> StepResult<Self> {
        Ok(load.next().map_or_else(|| Next::complete(()), |load| Next::to(Self::STEP, load)))
    }
}

/// Waits for one message and completes with it.
pub(crate) struct Hear;

#[flow(output = String)]
impl Hear {
    #[channel]
    pub(crate) const WORD: Channel<String>;

    #[wait_for(hear)]
    fn a_word(&self, _ctx: &WaitContext<Self>, _input: &String) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::WORD.one()))
    }

    #[step(start)]
    async fn hear(&self, _ctx: &mut StepContext<Self>, _input: String, word: String) -> StepResult<Self> {
        Ok(Next::complete(word))
    }
}

/// Sleeps, and says how much later than it should it woke.
pub(crate) struct Doze;

/// When a run should wake, and did.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Woken {
    pub(crate) due: SystemTime,
    pub(crate) at: SystemTime,
}

#[flow(output = Woken)]
impl Doze {
    #[wait_for(wake)]
    fn until(
        &self,
        _ctx: &WaitContext<Self>,
        pause: &Duration,
    ) -> WaitResult<Self, (TimerFired, SystemTime)> {
        let due = SystemTime::now() + *pause;
        Ok(Wait::one(Timer::at(due)).with(due))
    }

    #[step(start)]
    async fn wake(
        &self,
        _ctx: &mut StepContext<Self>,
        _pause: Duration,
        (TimerFired, due): (TimerFired, SystemTime),
    ) -> StepResult<Self> {
        Ok(Next::complete(Woken { due, at: SystemTime::now() }))
    }
}

/// Waits for many runs of another flow.
pub(crate) struct Family;

#[flow(output = usize)]
impl Family {
    #[wait_for(count)]
    fn all(&self, loads: &Vec<Load>) -> WaitResult<Self, Vec<ChildResult<Steps>>> {
        Ok(Wait::all(loads.iter().cloned().map(SubFlow::<Steps>::run).collect::<Vec<_>>()))
    }

    #[step(start)]
    async fn count(&self, _loads: Vec<Load>, children: Vec<ChildResult<Steps>>) -> StepResult<Self> {
        Ok(Next::complete(children.iter().filter(|child| child.is_completed()).count()))
    }
}

/// Forks into many branches and joins them.
pub(crate) struct Branches;

#[flow(output = usize)]
impl Branches {
    #[channel]
    const DONE: Channel<String>;

    #[step(start)]
    async fn fork(&self, _ctx: &mut StepContext<Self>, loads: Vec<Load>) -> StepResult<Self> {
        let count = loads.len();
        Ok(Next::each(Self::BRANCH, loads).and(Self::JOIN, count))
    }

    #[step]
    async fn branch(&self, ctx: &mut StepContext<Self>, load: Load) -> StepResult<Self> {
        ctx.publish(Self::DONE, load.filler)?;
        Ok(Next::dead_end())
    }

    #[wait_for(join)]
    fn all(&self, _ctx: &WaitContext<Self>, count: &usize) -> WaitResult<Self, Vec<String>> {
        Ok(Wait::one(Self::DONE.n(*count)))
    }

    #[step]
    async fn join(&self, _ctx: &mut StepContext<Self>, _count: usize, done: Vec<String>) -> StepResult<Self> {
        Ok(Next::complete(done.len()))
    }
}
