//! A run that the rules have made, read back at every point of its life.
//!
//! Made-up states have derived fields by the same function that reading uses; only the rules can say
//! whether it is right.

use super::*;
use crate::engine::{
    CancelPlan, Command, Condition, Decision, Exhausted, Failure, FailureKind, FailureReport, Limits,
    Movement, Phase, RetryPolicy, RunIdentity, RunState, Staged, Start, StepReport, StepTarget, Stop,
    WaitReport, transition,
};
use crate::ids::{Attempt, ExecutionNo, FlowId, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn channel() -> Slot {
    Slot::single(name("answers"))
}

fn value(text: &str) -> Payload {
    Payload::encode(text).unwrap()
}

fn second(n: i64) -> Timestamp {
    Timestamp::from_micros(n * 1_000_000)
}

fn movement(step: &str, waits: bool) -> Movement {
    Movement { step: name(step), input: value("input"), waits, locks: Vec::new(), patch: None }
}

/// The attempt of `execution` that runs now.
fn attempt(state: Option<&RunState>, execution: u64) -> Attempt {
    let execution = ExecutionNo(execution);
    Attempt { execution, number: state.unwrap().executions[&execution].attempt }
}

fn start() -> Command {
    let identity = RunIdentity {
        flow: name("orders"),
        flow_id: FlowId::new("order-1").unwrap(),
        run_id: RunId::from_bytes([1; 16]),
        started_at: second(0),
        parent: None,
    };
    let staged = Staged {
        attributes: vec![(Slot::single(name("status")), Some(value("new")))],
        messages: vec![(channel(), value("early"))],
        ..Staged::default()
    };
    Command::Start(Start {
        identity,
        movement: Some(movement("fork", false)),
        staged,
        timeout: None,
        call: None,
    })
}

fn messages(min: u32) -> Condition {
    Condition::Messages { slot: channel(), min, max: min, single: false }
}

fn wait(attempt: Attempt, condition: Condition) -> Command {
    Command::StartWait(WaitReport { attempt, condition, children: Vec::new(), staged: Staged::default() })
}

fn publish(text: &str) -> Command {
    Command::Publish { slot: channel(), values: vec![value(text)] }
}

fn fail(attempt: Attempt, exhausted: Exhausted, retry: RetryPolicy) -> Command {
    let failure = Failure {
        kind: FailureKind::Error,
        type_name: "Refused".into(),
        message: "no".into(),
        chain: vec!["because".into()],
        place: None,
    };
    let started_at = second(1);
    Command::FailAttempt(FailureReport { attempt, started_at, failure, retry_after: None, retry, exhausted })
}

#[test]
fn a_run_that_the_rules_have_made_reads_back_at_every_point() {
    let mut state = None;
    let mut now = 0;
    let mut go = |state: &mut Option<RunState>, command: Command| {
        now += 1;
        let done = transition(state, command, second(now), &Limits::DEFAULT).unwrap();
        assert!(!done.events.is_empty());
        let record = encode_transition(second(now), &done.events);
        assert_eq!(decode_transition(&record).unwrap(), (second(now), done.events));
        let run = state.as_ref().unwrap();
        assert_eq!(decode_state(&encode_state(run)).unwrap(), *run);
    };
    let once = RetryPolicy { attempts: Some(1), ..RetryPolicy::DEFAULT };

    go(&mut state, start());
    let forks = vec![movement("ask", true), movement("ask", true), movement("ship", false)];
    let fork = StepReport {
        attempt: attempt(state.as_ref(), 1),
        decision: Decision::Continue(forks),
        cancels: Vec::new(),
        staged: Staged::default(),
    };
    go(&mut state, Command::CompleteStep(fork));
    // One wait that is met at once and reserves, one that stays.
    let first = attempt(state.as_ref(), 2);
    go(&mut state, wait(first, messages(1)));
    let either = Condition::Any { of: vec![messages(2), Condition::Timer { at: second(99) }], tagged: true };
    let second_wait = attempt(state.as_ref(), 3);
    go(&mut state, wait(second_wait, either));
    go(&mut state, publish("one"));
    assert!(matches!(state.as_ref().unwrap().executions[&ExecutionNo(3)].phase, Phase::Waiting { .. }));
    assert_eq!(state.as_ref().unwrap().channels[&channel()].reserved, 1);

    let shipping = attempt(state.as_ref(), 4);
    go(&mut state, fail(shipping, Exhausted::Park, RetryPolicy::DEFAULT));
    assert!(matches!(state.as_ref().unwrap().executions[&ExecutionNo(4)].phase, Phase::Backoff { .. }));
    let asking = attempt(state.as_ref(), 2);
    let recover = Exhausted::Recover(StepTarget { step: name("refund"), waits: false, locks: Vec::new() });
    go(&mut state, fail(asking, recover, once));
    let refunding = attempt(state.as_ref(), 5);
    go(&mut state, fail(refunding, Exhausted::Park, once));
    assert!(matches!(state.as_ref().unwrap().executions[&ExecutionNo(5)].phase, Phase::Parked(_)));
    go(
        &mut state,
        Command::Stop { stop: Stop::Cancel, reason: Some("enough".into()), plan: CancelPlan::default() },
    );
    assert!(state.unwrap().closed.is_some());
}
