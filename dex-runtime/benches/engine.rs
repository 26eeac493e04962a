//! How many transitions a second the rules alone do, on one core.
//!
//! Run with `cargo bench -p dex-runtime --bench engine`. Each line is the best of several rounds, as a
//! multiple of the target and as a fraction of a floor that is measured in the same run: per transition, two
//! clones of a 200-byte payload and one entry put into a map and taken out of it.
#![expect(clippy::print_stdout, reason = "the figures are the program's output")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use dex_runtime::engine::{
    Command, Condition, Decision, Limits, Movement, Recorded, RunIdentity, RunState, Staged, Start,
    StepReport, WaitReport, fold, transition,
};
use dex_runtime::{Attempt, ExecutionNo, FlowId, Name, Payload, RunId, Slot, Timestamp};

/// Transitions a second that the design asks for.
const TARGET: f64 = 1_000_000.0;

/// Transitions of one round: few enough for their commands to stay in the cache, as they would arrive.
const BATCH: u64 = 999;

/// Of many rounds the best one counts, since others use the machine, too.
const ROUNDS: usize = 400;

fn main() {
    let floor = rate(BATCH, floor_round);
    println!("floor: clones and a map     {floor:>12.0} transitions/s");
    report("steps with an attribute", rate(BATCH, steps_round), floor);
    report("publish, complete, wait", rate(BATCH, messages_round), floor);
    report("fold of a history", rate(BATCH + 1, fold_round), floor);
}

fn report(what: &str, rate: f64, floor: f64) {
    let (target, part) = (rate / TARGET, rate / floor);
    println!("{what:<27} {rate:>12.0} transitions/s   {target:.2} x target   {part:.3} x floor");
}

/// The best rate of all rounds; a round prepares, then tells how long its `transitions` took.
fn rate(transitions: u64, round: impl Fn() -> Duration) -> f64 {
    let best = (0..ROUNDS).map(|_| round()).min().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let count = transitions as f64;
    count / best.as_secs_f64()
}

fn floor_round() -> Duration {
    let value = payload();
    let mut map = BTreeMap::from([(0, value.clone())]);
    let begun = Instant::now();
    for number in 0..BATCH {
        map.insert(number + 1, black_box(&value).clone());
        black_box(map.remove(&number));
        black_box(black_box(&value).clone());
    }
    begun.elapsed()
}

/// Each step writes an attribute and goes on to the next one.
fn steps_round() -> Duration {
    let mut run = started(false);
    let commands = steps();
    let begun = Instant::now();
    carry_out(&mut run, commands);
    begun.elapsed()
}

/// A message meets a wait, its step completes and goes on to one that waits again.
fn messages_round() -> Duration {
    let mut run = started(true);
    carry_out(&mut run, vec![wait(1)]);
    let commands =
        (1..=BATCH / 3).flat_map(|number| [publish(), complete(number, 2, true), wait(number + 1)]);
    let commands: Vec<_> = commands.collect();
    let begun = Instant::now();
    carry_out(&mut run, commands);
    begun.elapsed()
}

fn fold_round() -> Duration {
    let mut run = None;
    let commands = std::iter::once(start(false)).chain(steps());
    let history: Vec<_> = commands
        .zip(1..)
        .map(|(command, sequence)| Recorded { sequence, at: now(), events: apply(&mut run, command) })
        .collect();
    let begun = Instant::now();
    let folded = fold(None, history);
    let took = begun.elapsed();
    assert_eq!(folded, Ok(run), "the fold is the run");
    took
}

fn carry_out(run: &mut Option<RunState>, commands: Vec<Command>) {
    for command in commands {
        let done = transition(run, command, now(), &Limits::DEFAULT);
        assert!(black_box(done).is_ok(), "the commands fit the run");
    }
}

fn apply(run: &mut Option<RunState>, command: Command) -> Vec<dex_runtime::engine::Event> {
    transition(run, command, now(), &Limits::DEFAULT).expect("the commands fit the run").events
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000)
}

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

/// A value of 200 bytes.
fn payload() -> Payload {
    Payload::encode(&"x".repeat(198)).expect("a value")
}

fn start(waits: bool) -> Command {
    let flow_id = FlowId::new("order-1").expect("an id");
    let run_id = RunId::from_bytes([7; 16]);
    let identity = RunIdentity { flow: name("order"), flow_id, run_id, started_at: now(), parent: None };
    let staged = Staged::default();
    Command::Start(Start { identity, movement: Some(movement(waits)), staged, timeout: None, call: None })
}

fn started(waits: bool) -> Option<RunState> {
    let mut run = None;
    carry_out(&mut run, vec![start(waits)]);
    run
}

fn movement(waits: bool) -> Movement {
    Movement { step: name("charge_card"), input: payload(), waits, locks: Vec::new(), patch: None }
}

fn steps() -> Vec<Command> {
    (1..=BATCH).map(|number| complete(number, 1, false)).collect()
}

fn complete(execution: u64, attempt: u32, waits: bool) -> Command {
    let attributes = if waits { vec![] } else { vec![(Slot::single(name("status")), Some(payload()))] };
    Command::CompleteStep(StepReport {
        attempt: Attempt { execution: ExecutionNo(execution), number: attempt },
        cancels: Vec::new(),
        decision: Decision::Continue(vec![movement(waits)]),
        staged: Staged { attributes, ..Staged::default() },
    })
}

fn publish() -> Command {
    Command::Publish { slot: Slot::single(name("mail")), values: vec![payload()] }
}

fn wait(execution: u64) -> Command {
    let condition = Condition::Messages { slot: Slot::single(name("mail")), min: 1, max: 1, single: true };
    let attempt = Attempt { execution: ExecutionNo(execution), number: 1 };
    Command::StartWait(WaitReport { attempt, condition, children: Vec::new(), staged: Staged::default() })
}
