//! That the random commands meet a run in every place where it can stand.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::world::World;
use super::{Kind, Op, ops};
use crate::engine::{Command, Execution, Method, Phase, RunState, Status};
use crate::ids::ExecutionNo;

const KINDS: [Kind; 22] = [
    Kind::Start,
    Kind::StartWait,
    Kind::CompleteStep,
    Kind::FailAttempt,
    Kind::Publish,
    Kind::DeleteMessage,
    Kind::ApplyRpc,
    Kind::Write,
    Kind::FireTimer,
    Kind::ResumeStep,
    Kind::LeaveStep,
    Kind::SkipTimer,
    Kind::Stop,
    Kind::Pause,
    Kind::Resume,
    Kind::Checkpoint,
    Kind::HandOut,
    Kind::Request,
    Kind::NoteStarted,
    Kind::NoteStopped,
    Kind::EndChild,
    Kind::NoteTold,
];

const PLACES: [Place; 15] = [
    Place::NoRun,
    Place::NoExecution,
    Place::WaitFor,
    Place::Execute,
    Place::Blocked,
    Place::Waiting,
    Place::Backoff,
    Place::Parked,
    Place::Paused,
    Place::WindingDown,
    Place::CleaningUp,
    Place::Completed,
    Place::Failed,
    Place::Canceled,
    Place::Terminated,
];

/// Cases until every place was met; a thousand or so are mostly enough.
const CASES_MAX: u32 = 5_000;

/// Where a command meets a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    NoRun,
    /// The run is open, and what the command is about is not there.
    NoExecution,
    WaitFor,
    Execute,
    Blocked,
    Waiting,
    Backoff,
    Parked,
    /// The run is paused, wherever the execution is.
    Paused,
    /// The run is being cancelled, and handlers have their time.
    WindingDown,
    /// The run is being cancelled, and its clean-up runs.
    CleaningUp,
    Completed,
    Failed,
    Canceled,
    Terminated,
}

impl Place {
    fn of(execution: &Execution) -> Self {
        match execution.phase {
            Phase::Ready(Method::WaitFor) => Self::WaitFor,
            Phase::Ready(Method::Execute) => Self::Execute,
            Phase::Blocked => Self::Blocked,
            Phase::Waiting { .. } => Self::Waiting,
            Phase::Backoff { .. } => Self::Backoff,
            Phase::Parked(_) => Self::Parked,
        }
    }
}

/// The places where `command` meets `run`: that of its execution, or those of all if it is about the run.
fn places(command: &Command, run: Option<&RunState>) -> Vec<Place> {
    let Some(run) = run else { return vec![Place::NoRun] };
    match run.status() {
        Status::Paused => return vec![Place::Paused],
        Status::Running if run.is_winding_down() => return vec![Place::WindingDown],
        Status::Running if run.canceling.is_some() => return vec![Place::CleaningUp],
        Status::Running => {}
        Status::Completed => return vec![Place::Completed],
        Status::Failed => return vec![Place::Failed],
        Status::Canceled => return vec![Place::Canceled],
        Status::Terminated => return vec![Place::Terminated],
    }
    match about(command) {
        Some(no) => vec![run.executions.get(&no).map_or(Place::NoExecution, |open| Place::of(open))],
        None if run.executions.is_empty() => vec![Place::NoExecution],
        None => run.executions.values().map(|open| Place::of(open)).collect(),
    }
}

fn about(command: &Command) -> Option<ExecutionNo> {
    match command {
        Command::StartWait(report) => Some(report.attempt.execution),
        Command::CompleteStep(report) => Some(report.attempt.execution),
        Command::FailAttempt(report) => Some(report.attempt.execution),
        Command::FireTimer { execution }
        | Command::ResumeStep { execution }
        | Command::LeaveStep { execution, .. }
        | Command::SkipTimer { execution } => Some(*execution),
        Command::Checkpoint { attempt, .. } | Command::HandOut { attempt, .. } => Some(attempt.execution),
        Command::EndChild { child, .. } => Some(child.execution),
        Command::Once { command, .. } => about(command),
        Command::Start(_)
        | Command::Publish { .. }
        | Command::DeleteMessage { .. }
        | Command::ApplyRpc(_)
        | Command::Write(_)
        | Command::Stop { .. }
        | Command::Pause
        | Command::Resume
        | Command::NoteStarted(_)
        | Command::NoteStopped(_)
        | Command::NoteTold => None,
    }
}

#[test]
fn every_kind_of_command_meets_a_run_in_every_place() {
    let hit = RefCell::new(BTreeSet::new());
    let config = Config { cases: CASES_MAX, failure_persistence: None, ..Config::default() };
    // Always the same sequence of cases, so that the test finds the same places each time.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let full = Cell::new(false);
    let result = TestRunner::new_with_rng(config, rng).run(&ops(), |ops| {
        if hit.borrow().len() == KINDS.len() * PLACES.len() {
            return Ok(());
        }
        let mut world = World::default();
        for op in ops {
            let Op { kind, .. } = op;
            let command = world.command(op);
            let met = places(&command, world.state.as_ref());
            hit.borrow_mut().extend(met.into_iter().map(|place| (kind, place)));
            world.apply(&command)?;
        }
        full.set(full.get() || world.was_full);
        Ok(())
    });
    assert!(result.is_ok(), "{result:?}");
    assert!(full.get(), "some runs are full");
    let hit = hit.into_inner();
    let missing: Vec<_> = KINDS
        .iter()
        .flat_map(|kind| PLACES.iter().map(move |place| (*kind, *place)))
        .filter(|pair| !hit.contains(pair))
        .collect();
    assert_eq!(missing, []);
}
