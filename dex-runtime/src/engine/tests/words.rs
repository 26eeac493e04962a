//! The values that rows are written with. The input of a step is its name, where nothing else is said.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::engine::{
    CancelPlan, Closing, Command, Condition, Decision, Event, Exhausted, Failure, FailureKind, FailureReport,
    Matched, Movement, Recovery, RetryPolicy, RpcReport, RunIdentity, Source, Staged, Start, StepPatch,
    StepReport, StepTarget, Stop, WaitReport,
};
use crate::ids::{Attempt, ExecutionNo, FlowId, MapKey, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

pub(super) fn at(second: u64) -> Timestamp {
    Timestamp::EPOCH.saturating_add(Duration::from_secs(second))
}

pub(super) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(super) fn slot(text: &str) -> Slot {
    Slot::single(name(text))
}

/// An entry of a map.
pub(super) fn entry(text: &str, key: &str) -> Slot {
    Slot { key: Some(MapKey::new(key).unwrap()), ..slot(text) }
}

pub(super) fn value(of: impl Serialize) -> Payload {
    Payload::encode(&of).unwrap()
}

pub(super) fn no(execution: u64) -> ExecutionNo {
    ExecutionNo(execution)
}

pub(super) fn attempt(execution: u64, number: u32) -> Attempt {
    Attempt { execution: no(execution), number }
}

pub(super) fn identity() -> RunIdentity {
    RunIdentity {
        flow: name("order"),
        flow_id: FlowId::new("order-1").unwrap(),
        run_id: RunId::from_bytes([7; 16]),
        started_at: at(0),
        parent: None,
    }
}

// What is staged.

pub(super) fn set(attribute: &str, to: impl Serialize) -> Staged {
    Staged { attributes: vec![(slot(attribute), Some(value(to)))], ..Staged::default() }
}

pub(super) fn delete(attribute: &str) -> Staged {
    Staged { attributes: vec![(slot(attribute), None)], ..Staged::default() }
}

pub(super) fn send(messages: &[(&str, &str)]) -> Staged {
    let messages = messages.iter().map(|(channel, text)| (slot(channel), value(text))).collect();
    Staged { messages, ..Staged::default() }
}

// Steps and decisions.

pub(super) fn to(step: &str) -> Movement {
    Movement { step: name(step), input: value(step), waits: false, locks: Vec::new(), patch: None }
}

pub(super) fn to_wait(step: &str) -> Movement {
    Movement { waits: true, ..to(step) }
}

/// An entry into a step of which at most `attempts` attempts are made.
pub(super) fn patched_to(step: &str, attempts: u32) -> Movement {
    Movement { patch: Some(patch(attempts)), ..to(step) }
}

pub(super) fn patch(attempts: u32) -> Arc<StepPatch> {
    Arc::new(StepPatch { attempts: Some(attempts), ..StepPatch::default() })
}

/// An entry into a step that has these attributes for itself.
pub(super) fn locked_to(step: &str, locks: &[&str]) -> Movement {
    Movement { locks: locks.iter().map(|lock| slot(lock)).collect(), ..to(step) }
}

pub(super) fn go(movements: impl IntoIterator<Item = Movement>) -> Decision {
    Decision::Continue(movements.into_iter().collect())
}

pub(super) fn complete_with(output: &str) -> Decision {
    Decision::Complete(value(output))
}

pub(super) fn if_empty(channels: &[&str], output: &str, otherwise: Movement) -> Decision {
    let channels = channels.iter().map(|channel| slot(channel)).collect();
    Decision::CompleteIfEmpty { channels, output: value(output), otherwise }
}

// Conditions.

pub(super) fn one(channel: &str) -> Condition {
    Condition::Messages { slot: slot(channel), min: 1, max: 1, single: true }
}

pub(super) fn between(channel: &str, min: u32, max: u32) -> Condition {
    Condition::Messages { slot: slot(channel), min, max, single: false }
}

pub(super) fn timer(second: u64) -> Condition {
    Condition::Timer { at: at(second) }
}

pub(super) fn any(of: impl IntoIterator<Item = Condition>) -> Condition {
    Condition::Any { of: of.into_iter().collect(), tagged: true }
}

pub(super) fn all(parts: impl IntoIterator<Item = Condition>) -> Condition {
    Condition::All(parts.into_iter().collect())
}

pub(super) fn nth(place: u32, of: Matched) -> Matched {
    Matched::Any(place, Box::new(of))
}

pub(super) fn took(count: u32) -> Matched {
    Matched::Messages(count)
}

// Commands.

pub(super) fn start(movement: Option<Movement>, staged: Staged) -> Command {
    Command::Start(Start { identity: identity(), movement, staged, timeout: None, call: None })
}

pub(super) fn start_wait(execution: u64, number: u32, condition: Condition) -> Command {
    let attempt = attempt(execution, number);
    Command::StartWait(WaitReport { attempt, condition, children: Vec::new(), staged: Staged::default() })
}

pub(super) fn complete(execution: u64, number: u32, decision: Decision) -> Command {
    complete_and(execution, number, decision, Staged::default())
}

pub(super) fn complete_and(execution: u64, number: u32, decision: Decision, staged: Staged) -> Command {
    Command::CompleteStep(step_report(execution, number, decision, staged))
}

pub(super) fn step_report(execution: u64, number: u32, decision: Decision, staged: Staged) -> StepReport {
    StepReport { attempt: attempt(execution, number), decision, cancels: Vec::new(), staged }
}

pub(super) fn failure(kind: FailureKind) -> Failure {
    Failure {
        kind,
        type_name: "shop::Error".into(),
        message: "the shop is closed".into(),
        chain: vec!["no route".into()],
        place: Some("shop.rs:7".into()),
    }
}

pub(super) fn error() -> Failure {
    failure(FailureKind::Error)
}

/// A failure that is tried again by the default policy; exhaustion fails the run.
pub(super) fn report(execution: u64, number: u32) -> FailureReport {
    FailureReport {
        attempt: attempt(execution, number),
        started_at: at(0),
        failure: error(),
        retry_after: None,
        retry: RetryPolicy::DEFAULT,
        exhausted: Exhausted::Fail,
    }
}

pub(super) fn once() -> RetryPolicy {
    RetryPolicy { attempts: Some(1), ..RetryPolicy::DEFAULT }
}

/// The last failure that the policy allows.
pub(super) fn give_up(execution: u64, number: u32, exhausted: Exhausted) -> Command {
    Command::FailAttempt(FailureReport { retry: once(), exhausted, ..report(execution, number) })
}

pub(super) fn recover_by(step: &str) -> Exhausted {
    Exhausted::Recover(target(step))
}

pub(super) fn publish(channel: &str, texts: &[&str]) -> Command {
    Command::Publish { slot: slot(channel), values: texts.iter().map(value).collect() }
}

pub(super) fn fire(execution: u64) -> Command {
    Command::FireTimer { execution: no(execution) }
}

pub(super) fn resume(execution: u64) -> Command {
    Command::ResumeStep { execution: no(execution) }
}

pub(super) fn leave(execution: u64, to: Option<Movement>) -> Command {
    Command::LeaveStep { execution: no(execution), missing: None, to }
}

pub(super) fn skip_timer(execution: u64) -> Command {
    Command::SkipTimer { execution: no(execution) }
}

pub(super) fn stop(stop: Stop) -> Command {
    Command::Stop { stop, reason: None, plan: CancelPlan::default() }
}

/// A cancel that gives handlers so many seconds, and then runs `cleanup`.
pub(super) fn cancel(grace: u64, cleanup: Option<&str>) -> Command {
    Command::Stop { stop: Stop::Cancel, reason: None, plan: plan(grace, cleanup) }
}

pub(super) fn plan(grace: u64, cleanup: Option<&str>) -> CancelPlan {
    CancelPlan { grace: Duration::from_secs(grace), cleanup: cleanup.map(target) }
}

pub(super) fn target(step: &str) -> StepTarget {
    StepTarget { step: name(step), waits: false, locks: Vec::new() }
}

pub(super) fn rpc(staged: Staged, movements: impl IntoIterator<Item = Movement>) -> RpcReport {
    RpcReport {
        rpc: name("patch"),
        reads: Vec::new(),
        staged,
        movements: movements.into_iter().collect(),
        cancels: Vec::new(),
        locks: Vec::new(),
    }
}

// Events.

pub(super) fn started() -> Event {
    Event::RunStarted { identity: identity(), timeout: None }
}

pub(super) fn scheduled_by(source: Source, execution: u64, movement: Movement) -> Event {
    let Movement { step, input, waits, locks, patch } = movement;
    let execution = no(execution);
    Event::StepScheduled { execution, step, source, input, waits, recovery: None, locks, patch }
}

pub(super) fn scheduled(execution: u64, movement: Movement) -> Event {
    scheduled_by(Source::Start, execution, movement)
}

pub(super) fn followed(from: u64, execution: u64, movement: Movement) -> Event {
    scheduled_by(Source::Step(no(from)), execution, movement)
}

/// The start of recovery step `step` for execution `from` of `of`, which failed `attempts` times.
pub(super) fn recovering(from: u64, of: &str, attempts: u32, execution: u64, step: &str) -> Event {
    let recovery = Recovery { step: name(of), failure: error(), attempts, may_have_run: true };
    Event::StepScheduled {
        execution: no(execution),
        step: name(step),
        source: Source::Recovery(no(from)),
        input: value(of),
        waits: false,
        recovery: Some(recovery),
        locks: Vec::new(),
        patch: None,
    }
}

pub(super) fn published(channel: &str, text: &str) -> Event {
    Event::MessagePublished { slot: slot(channel), value: value(text) }
}

pub(super) fn attribute_set(attribute: &str, to: impl Serialize) -> Event {
    Event::AttributeSet { slot: slot(attribute), value: value(to) }
}

pub(super) fn wait_started(execution: u64, condition: Condition) -> Event {
    Event::WaitStarted { execution: no(execution), condition }
}

pub(super) fn timer_fired(execution: u64, second: u64) -> Event {
    Event::TimerFired { execution: no(execution), until: at(second) }
}

pub(super) fn wait_met(execution: u64, matched: Matched) -> Event {
    Event::WaitMet { execution: no(execution), matched }
}

pub(super) fn skipped(execution: u64) -> Event {
    Event::StepSkipped { execution: no(execution) }
}

pub(super) fn completed(execution: u64) -> Event {
    Event::StepCompleted { execution: no(execution) }
}

pub(super) fn locks_taken(execution: u64) -> Event {
    Event::LocksTaken { execution: no(execution) }
}

pub(super) fn step_failed(execution: u64) -> Event {
    Event::StepFailed { execution: no(execution), failure: error() }
}

pub(super) fn parked(execution: u64, failure: Failure) -> Event {
    Event::StepParked { execution: no(execution), failure }
}

pub(super) fn output(step: &str, number: u32, of: impl Serialize) -> Event {
    Event::OutputProduced { step: name(step), number, value: value(of) }
}

pub(super) fn closed(closing: Closing) -> Event {
    Event::RunClosed { closing }
}

/// A run whose only execution, 1, is step `ask` and waits for `condition`.
pub(super) fn waiting(condition: Condition) -> [Event; 3] {
    [started(), scheduled(1, to_wait("ask")), wait_started(1, condition)]
}

/// A run whose only execution, 1, is step `charge`, which runs.
pub(super) fn charging() -> [Event; 2] {
    [started(), scheduled(1, to("charge"))]
}
