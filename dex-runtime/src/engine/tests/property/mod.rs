//! What holds after any commands whatever.
//!
//! An [`Op`] is a wish; `commands` makes a command of it that fits the run as it is (or, on purpose, does
//! not); `world` carries it out and checks everything that must hold then.

mod commands;
mod coverage;
mod meeting;
mod order;
mod world;

use proptest::prelude::*;

use self::world::World;

/// Commands in a row. Enough for a run to open, branch, fail, recover and close.
const OPS_MAX: usize = 60;

/// One command to be.
#[derive(Clone, Copy, Debug)]
struct Op {
    kind: Kind,
    /// Whether the command is to fit the run, as far as one of its kind can.
    sensible: bool,
    /// Decides everything else about it.
    seed: u64,
}

/// The kinds of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Start,
    StartWait,
    CompleteStep,
    FailAttempt,
    Publish,
    DeleteMessage,
    ApplyRpc,
    Write,
    FireTimer,
    ResumeStep,
    LeaveStep,
    SkipTimer,
    Stop,
    Pause,
    Resume,
    Checkpoint,
    HandOut,
    Request,
    NoteStarted,
    NoteStopped,
    EndChild,
    NoteTold,
}

fn op() -> impl Strategy<Value = Op> {
    // Stops are rare, or few runs would come to anything.
    let kind = prop_oneof![
        2 => Just(Kind::Start),
        8 => Just(Kind::StartWait),
        8 => Just(Kind::CompleteStep),
        6 => Just(Kind::FailAttempt),
        6 => Just(Kind::Publish),
        3 => Just(Kind::DeleteMessage),
        4 => Just(Kind::ApplyRpc),
        3 => Just(Kind::Write),
        8 => Just(Kind::FireTimer),
        3 => Just(Kind::ResumeStep),
        1 => Just(Kind::LeaveStep),
        2 => Just(Kind::SkipTimer),
        2 => Just(Kind::Stop),
        1 => Just(Kind::Pause),
        4 => Just(Kind::Resume),
        3 => Just(Kind::Checkpoint),
        3 => Just(Kind::HandOut),
        2 => Just(Kind::Request),
        4 => Just(Kind::NoteStarted),
        2 => Just(Kind::NoteStopped),
        5 => Just(Kind::EndChild),
        2 => Just(Kind::NoteTold),
    ];
    (kind, prop::bool::weighted(0.8), any::<u64>()).prop_map(|(kind, sensible, seed)| Op {
        kind,
        sensible,
        seed,
    })
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 1..OPS_MAX)
}

proptest! {
    // As many as take about two seconds in a debug build.
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn whatever_comes_a_run_keeps_its_promises(ops in ops()) {
        let mut world = World::default();
        for op in ops {
            world.carry_out(op)?;
        }
    }
}
