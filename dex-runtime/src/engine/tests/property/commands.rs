//! Commands that fit a run, and commands that do not.

use std::sync::Arc;
use std::time::Duration;

use super::{Kind, Op};
use crate::engine::tests::words::{
    all, any, attempt, entry, error, failure, identity, if_empty, name, slot, to, to_wait, value,
};
use crate::engine::{
    CancelPlan, CancelSteps, ChildNo, ChildRequest, ChildStart, Command, Condition, Decision, Execution,
    Exhausted, FailureKind, FailureReport, Method, Movement, Note, Parent, ParentEnd, Phase, Read, Reads,
    RetryPolicy, RpcReport, RunIdentity, RunState, Staged, Start, StepPatch, StepReport, StepTarget, Stop,
    TimeoutAction, WaitReport, WriteReport,
};
use crate::ids::{Attempt, Epoch, ExecutionNo, RunId, Slot};
use crate::time::Timestamp;

const STEPS: [&str; 3] = ["charge", "ship", "ask"];
const CHANNELS: [&str; 3] = ["a", "b", "c"];
const ATTRIBUTES: [&str; 2] = ["total", "paid"];

/// Numbers that follow from a seed.
#[derive(Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        // Knuth's generator; its high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    fn small(&mut self, bound: u32) -> u32 {
        u32::try_from(self.below(u64::from(bound))).unwrap()
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }

    fn slot(&mut self) -> Slot {
        let channel = self.of(&CHANNELS);
        if self.one_in(3) { entry(channel, "k") } else { slot(channel) }
    }

    fn some<T>(&mut self, bound: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(bound)).map(|_| make(self)).collect()
    }
}

/// What `op` asks of `run`.
pub(super) fn command(op: Op, run: Option<&RunState>, now: Timestamp) -> Command {
    let draw = &mut Draw(op.seed);
    match op.kind {
        Kind::Start => Command::Start(Start {
            identity: RunIdentity { parent: draw.one_in(2).then(parent), ..identity() },
            movement: (!draw.one_in(8)).then(|| movement(draw)),
            staged: staged(draw),
            timeout: draw.one_in(3).then(|| (seconds(draw, 40), timeout(draw))),
            call: draw.one_in(8).then(|| Box::new(rpc(op, None, draw))),
        }),
        Kind::StartWait => Command::StartWait(wait(op, run, now, draw)),
        Kind::CompleteStep => Command::CompleteStep(StepReport {
            attempt: target(op, run, draw, |phase| *phase == Phase::Ready(Method::Execute)),
            decision: decision(draw),
            cancels: draw.some(2, cancel),
            staged: staged(draw),
        }),
        Kind::FailAttempt => Command::FailAttempt(failed(op, run, now, draw)),
        Kind::Publish => {
            Command::Publish { slot: draw.slot(), values: draw.some(4, |draw| value(draw.below(100))) }
        }
        Kind::DeleteMessage => {
            let slot = draw.slot();
            let queue = run.and_then(|run| run.channels.get(&slot)).map(|channel| &channel.queue);
            let first = queue.and_then(|queue| queue.first()).filter(|_| op.sensible);
            let number = first.map_or_else(|| draw.below(9), |(number, _)| *number);
            Command::DeleteMessage { slot, number }
        }
        Kind::ApplyRpc => Command::ApplyRpc(rpc(op, run, draw)),
        Kind::Write => Command::Write(WriteReport { reads: reads(op, run, draw), staged: staged(draw) }),
        Kind::FireTimer => {
            let waits = |phase: &Phase| matches!(phase, Phase::Waiting { .. } | Phase::Backoff { .. });
            let of_run = draw.one_in(3) && run.is_some_and(|run| run.due().is_some());
            let execution = if of_run { ExecutionNo(0) } else { target(op, run, draw, waits).execution };
            Command::FireTimer { execution }
        }
        Kind::ResumeStep => {
            let parked = |phase: &Phase| matches!(phase, Phase::Parked(_));
            Command::ResumeStep { execution: target(op, run, draw, parked).execution }
        }
        Kind::LeaveStep => {
            let parked = |phase: &Phase| matches!(phase, Phase::Parked(_));
            let to = draw.one_in(2).then(|| movement(draw));
            Command::LeaveStep { execution: target(op, run, draw, parked).execution, missing: None, to }
        }
        Kind::SkipTimer => {
            let waits = |phase: &Phase| matches!(phase, Phase::Waiting { .. });
            Command::SkipTimer { execution: target(op, run, draw, waits).execution }
        }
        Kind::Stop => {
            let stop = draw.of(&[Stop::Cancel, Stop::Terminate, Stop::Fail]);
            Command::Stop { stop, reason: draw.one_in(2).then(|| "why not".to_owned()), plan: plan(draw) }
        }
        Kind::Pause => Command::Pause,
        Kind::Resume => Command::Resume,
        Kind::Checkpoint => Command::Checkpoint {
            attempt: target(op, run, draw, |phase| matches!(phase, Phase::Ready(_))),
            value: value(draw.below(3)),
        },
        Kind::HandOut => Command::HandOut {
            attempt: target(op, run, draw, |phase| matches!(phase, Phase::Ready(_))),
            opening: Epoch(draw.below(5)),
            lost_max: 3,
        },
        Kind::NoteStarted => {
            let started = draw.some(3, |draw| (child(op, run, draw), RunId::from_bytes([5; 16])));
            Command::NoteStarted(started.into_iter().collect())
        }
        Kind::NoteStopped => {
            Command::NoteStopped(draw.some(3, |draw| child(op, run, draw)).into_iter().collect())
        }
        Kind::EndChild => Command::EndChild { child: child(op, run, draw), result: value(draw.below(9)) },
        Kind::NoteTold => Command::NoteTold,
        Kind::Request => {
            let kind = draw.of(&[Kind::Start, Kind::Publish, Kind::ApplyRpc, Kind::Stop, Kind::Pause]);
            let inner = command(Op { kind, seed: draw.below(u64::MAX), ..op }, run, now);
            Command::Once {
                request: name(draw.of(&["first", "second"])),
                digest: draw.below(2),
                answer: value(draw.below(9)),
                command: Box::new(inner),
            }
        }
    }
}

/// A wait with the children that it names, or sometimes not with them.
fn wait(op: Op, run: Option<&RunState>, now: Timestamp, draw: &mut Draw) -> WaitReport {
    let mut condition = condition(draw, now, 2);
    let mut children = Vec::new();
    number(&mut condition, &mut |_| {
        let on_parent_end = draw.of(&[ParentEnd::Leave, ParentEnd::Cancel, ParentEnd::Terminate]);
        let start = ChildStart { input: value(draw.below(9)), attributes: Vec::new(), timeout: None };
        children.push(ChildRequest { flow: name("parcel"), start, on_parent_end });
    });
    if !op.sensible && draw.one_in(4) {
        children.pop();
    }
    WaitReport {
        attempt: target(op, run, draw, |phase| *phase == Phase::Ready(Method::WaitFor)),
        condition,
        children,
        staged: staged(draw),
    }
}

/// Numbers the children of a condition in order.
fn number(condition: &mut Condition, each: &mut impl FnMut(u32)) {
    fn below(condition: &mut Condition, next: &mut u32, each: &mut impl FnMut(u32)) {
        match condition {
            Condition::Child { index } => {
                *index = *next;
                each(*index);
                *next += 1;
            }
            Condition::Any { of, .. } | Condition::All(of) => {
                for part in of {
                    below(part, next, each);
                }
            }
            Condition::With(inner, _) => below(inner, next, each),
            Condition::Messages { .. } | Condition::Timer { .. } | Condition::Ready(_) => {}
        }
    }
    below(condition, &mut 0, each);
}

fn parent() -> Parent {
    let child = ChildNo { execution: ExecutionNo(1), index: 0 };
    Parent { run_id: RunId::from_bytes([9; 16]), flow_id: identity().flow_id, child }
}

/// A child of the run, or sometimes none.
fn child(op: Op, run: Option<&RunState>, draw: &mut Draw) -> ChildNo {
    let known: Vec<ChildNo> = run.into_iter().flat_map(|run| run.children.all.keys().copied()).collect();
    if known.is_empty() || (!op.sensible && draw.one_in(2)) {
        return ChildNo { execution: ExecutionNo(draw.below(4)), index: draw.small(3) };
    }
    draw.of(&known)
}

/// An attempt of an execution that `fits`, or of any, or of none.
fn target(op: Op, run: Option<&RunState>, draw: &mut Draw, fits: impl Fn(&Phase) -> bool) -> Attempt {
    let executions = run.into_iter().flat_map(|run| &run.executions);
    let fitting: Vec<(ExecutionNo, &Execution)> = executions
        .filter(|(_, execution)| !op.sensible || fits(&execution.phase))
        .map(|(no, execution)| (*no, &**execution))
        .collect();
    if fitting.is_empty() || (!op.sensible && draw.one_in(4)) {
        let scheduled = run.map_or(0, |run| run.scheduled);
        return attempt(draw.below(scheduled + 2), draw.small(4));
    }
    // Few executions wait for locks, and they are not to be forgotten.
    let blocked = fitting.iter().find(|(_, execution)| execution.phase == Phase::Blocked);
    let (execution, found) = match blocked {
        Some(blocked) if draw.one_in(2) => *blocked,
        _ => draw.of(&fitting),
    };
    let number = if op.sensible { found.attempt } else { found.attempt.saturating_sub(1) + draw.small(3) };
    Attempt { execution, number }
}

fn movement(draw: &mut Draw) -> Movement {
    let step = draw.of(&STEPS);
    let movement = if draw.one_in(2) { to_wait(step) } else { to(step) };
    Movement { locks: locks(draw), patch: draw.one_in(4).then(|| patch(draw)), ..movement }
}

/// What a movement changes. The engine keeps it and looks at nothing in it.
fn patch(draw: &mut Draw) -> Arc<StepPatch> {
    Arc::new(StepPatch { attempts: Some(draw.small(4)), ..StepPatch::default() })
}

/// Attributes in the order in which all steps take them.
fn locks(draw: &mut Draw) -> Vec<Slot> {
    let names = draw.of(&[&[][..], &["total"], &["paid", "total"]]);
    names.iter().map(|name| slot(name)).collect()
}

fn cancel(draw: &mut Draw) -> CancelSteps {
    CancelSteps { step: name(draw.of(&STEPS)), siblings: draw.one_in(2) }
}

fn seconds(draw: &mut Draw, bound: u64) -> Duration {
    Duration::from_secs(draw.below(bound))
}

fn plan(draw: &mut Draw) -> CancelPlan {
    CancelPlan { grace: seconds(draw, 4), cleanup: draw.one_in(2).then(|| step_target(draw)) }
}

fn timeout(draw: &mut Draw) -> TimeoutAction {
    match draw.below(3) {
        0 => TimeoutAction::Fail,
        1 => TimeoutAction::Cancel(plan(draw)),
        _ => TimeoutAction::Step(step_target(draw)),
    }
}

fn step_target(draw: &mut Draw) -> StepTarget {
    StepTarget { step: name(draw.of(&STEPS)), waits: draw.one_in(2), locks: locks(draw) }
}

fn staged(draw: &mut Draw) -> Staged {
    Staged {
        attributes: draw
            .some(3, |draw| (slot(draw.of(&ATTRIBUTES)), (!draw.one_in(3)).then(|| value(draw.below(9))))),
        // Some are there, some were taken, and some never were.
        deleted: draw.some(2, |draw| (draw.slot(), draw.below(12))).into_iter().collect(),
        messages: draw.some(3, |draw| (draw.slot(), value(draw.below(100)))),
        notes: draw.some(2, |draw| Note { name: name("noted"), value: value(draw.below(9)) }),
    }
}

fn decision(draw: &mut Draw) -> Decision {
    match draw.below(16) {
        0..8 => Decision::Continue(draw.some(4, movement)),
        8 | 9 => Decision::Complete(value(draw.below(9))),
        10 => Decision::CompleteNow(value(())),
        11 => if_empty(&[draw.of(&CHANNELS), draw.of(&CHANNELS)], "idle", movement(draw)),
        12 => Decision::Fail { reason: "no stock".into() },
        _ => Decision::DeadEnd,
    }
}

/// A condition of at most so many levels, sometimes a wrong one.
pub(super) fn condition(draw: &mut Draw, now: Timestamp, levels: u32) -> Condition {
    let group = |draw: &mut Draw| {
        let least = u64::from(!draw.one_in(12));
        (0..least + draw.below(3)).map(|_| condition(draw, now, levels - 1)).collect::<Vec<_>>()
    };
    match draw.below(if levels == 0 { 6 } else { 12 }) {
        0 | 1 => messages(draw.slot(), 1, 1, true),
        2 | 3 => messages(draw.slot(), draw.small(3), draw.of(&[1, 2, 3, u32::MAX]), false),
        4 => Condition::Timer { at: now.saturating_add(Duration::from_secs(draw.below(20))) },
        5 if draw.one_in(2) => messages(draw.slot(), 0, 2, false),
        5 => Condition::Child { index: draw.small(4) },
        6 => Condition::Ready(value(draw.below(9))),
        7 => Condition::With(Box::new(condition(draw, now, levels - 1)), value("local")),
        8 | 9 => any(group(draw)),
        _ => all(group(draw)),
    }
}

fn messages(slot: Slot, min: u32, max: u32, single: bool) -> Condition {
    Condition::Messages { slot, min, max, single }
}

fn failed(op: Op, run: Option<&RunState>, now: Timestamp, draw: &mut Draw) -> FailureReport {
    let kind = draw.of(&[
        FailureKind::Error,
        FailureKind::Error,
        FailureKind::Panic,
        FailureKind::Timeout,
        FailureKind::HeartbeatTimeout,
        FailureKind::Fatal,
        FailureKind::Unworkable,
    ]);
    let attempts = draw.of(&[None, Some(1), Some(2)]);
    FailureReport {
        attempt: target(op, run, draw, |phase| matches!(phase, Phase::Ready(_))),
        started_at: now,
        failure: if kind == FailureKind::Error { error() } else { failure(kind) },
        retry_after: draw.one_in(4).then(|| Duration::from_secs(draw.below(30))),
        retry: RetryPolicy { attempts, ..RetryPolicy::DEFAULT },
        exhausted: match draw.below(7) {
            0 => Exhausted::Fail,
            1 | 2 => Exhausted::Park,
            3 => Exhausted::Proceed,
            _ => Exhausted::Recover(step_target(draw)),
        },
    }
}

fn rpc(op: Op, run: Option<&RunState>, draw: &mut Draw) -> RpcReport {
    let reads = reads(op, run, draw);
    let idle = draw.one_in(3);
    let staged = if idle { Staged::default() } else { staged(draw) };
    let movements = if idle { Vec::new() } else { draw.some(3, movement) };
    let cancels = if idle { Vec::new() } else { draw.some(2, cancel) };
    RpcReport { rpc: name("patch"), reads, staged, movements, cancels, locks: locks(draw) }
}

/// What a transaction says it saw: the truth, if it is to be sensible.
fn reads(op: Op, run: Option<&RunState>, draw: &mut Draw) -> Reads {
    let read = |draw: &mut Draw| {
        let read = slot(draw.of(&ATTRIBUTES));
        let seen = run.and_then(|run| run.attributes.get(&read)).map(|attribute| attribute.version);
        let seen = if op.sensible { seen } else { draw.one_in(2).then(|| draw.below(9)) };
        Read::Attribute(read, seen)
    };
    let mut all = draw.some(3, read);
    if draw.one_in(4) {
        let (slot, number) = (draw.slot(), draw.below(12));
        let seen = run.is_some_and(|run| run.has_message(&slot, number));
        all.push(Read::Message(slot, number, seen == op.sensible));
    }
    all
}
