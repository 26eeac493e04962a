//! Beginning a run.

use super::given;
use super::words::{
    attempt, attribute_set, charging, closed, complete, fire, identity, published, resume, rpc, scheduled,
    scheduled_by, send, set, slot, start, started, stop, to, to_wait, value,
};
use crate::engine::{
    Closing, Command, Decision, Effect, Event, Limits, Method, Movement, Read, Rejection, RpcReport, Source,
    Staged, Start, Status, Stop, Task,
};
use crate::ids::ExecutionNo;

#[test]
fn a_run_starts_with_its_first_step() {
    let run = given([]).when(start(Some(to("charge")), Staged::default())).then(charging());
    assert_eq!(run.run().version, 1);
    assert_eq!(run.run().status(), Status::Running);
}

#[test]
fn the_first_step_is_handed_out_once_the_run_exists() {
    let task = Task {
        attempt: attempt(1, 1),
        step: super::words::name("charge"),
        number: 1,
        method: Method::Execute,
        source: Source::Start,
        source_id: None,
        input: value("charge"),
        outcome: None,
        failures: 0,
        first_attempt_at: None,
        recovery: None,
        patch: None,
        checkpoint: None,
        canceling: false,
    };
    given([]).when(start(Some(to("charge")), Staged::default())).does([Effect::Dispatch(Box::new(task))]);
}

#[test]
fn a_step_with_a_wait_is_asked_first_what_to_wait_for() {
    let run = given([]).when(start(Some(to_wait("ask")), Staged::default())).fine();
    assert_eq!(run.task(1).method, Method::WaitFor);
}

#[test]
fn attributes_and_messages_are_there_from_the_beginning() {
    let staged = Staged { messages: send(&[("mail", "hello")]).messages, ..set("total", 17) };
    given([]).when(start(Some(to("charge")), staged)).then([
        started(),
        attribute_set("total", 17),
        published("mail", "hello"),
        scheduled(1, to("charge")),
    ]);
}

/// A start with the RPC `patch`, which does what `report` says.
fn start_and_call(movement: Option<Movement>, staged: Staged, report: RpcReport) -> Command {
    let Command::Start(start) = start(movement, staged) else { unreachable!() };
    Command::Start(Start { call: Some(Box::new(report)), ..start })
}

#[test]
fn an_rpc_that_is_called_with_a_start_acts_on_the_run_as_it_begins() {
    let report = RpcReport {
        reads: vec![Read::Attribute(slot("total"), Some(1)), Read::Size(slot("mail"), 1)],
        ..rpc(Staged { messages: send(&[("mail", "b")]).messages, ..set("total", 18) }, [to("ship")])
    };
    let staged = Staged { messages: send(&[("mail", "a")]).messages, ..set("total", 17) };
    let run = given([]).when(start_and_call(Some(to("charge")), staged, report)).then([
        started(),
        attribute_set("total", 17),
        published("mail", "a"),
        scheduled(1, to("charge")),
        Event::RpcApplied { rpc: super::words::name("patch") },
        attribute_set("total", 18),
        published("mail", "b"),
        scheduled_by(Source::Rpc(super::words::name("patch")), 2, to("ship")),
    ]);
    assert_eq!(run.run().version, 1);
}

#[test]
fn an_rpc_that_cannot_be_applied_begins_no_run() {
    let locked = RpcReport { locks: vec![slot("total")], ..rpc(set("total", 1), []) };
    let charge = Movement { locks: vec![slot("total")], ..to("charge") };
    given([])
        .when(start_and_call(Some(charge), Staged::default(), locked))
        .refused(&Rejection::Locked { slot: slot("total") });
    let full = rpc(send(&[("mail", "b")]), []);
    let limits = Limits { channel_messages_max: 1, ..Limits::DEFAULT };
    let run = given([]).limited(limits).when(start_and_call(None, send(&[("mail", "a")]), full));
    assert!(run.refused(&Rejection::ChannelFull { slot: slot("mail"), size: 2, max: 1 }).state.is_none());
}

#[test]
fn a_run_without_a_first_step_stays_open() {
    let run = given([]).when(start(None, Staged::default())).then([started()]);
    assert_eq!(run.run().status(), Status::Running);
    assert!(!run.run().is_active());
}

#[test]
fn a_run_that_exists_is_not_started_again() {
    let run_id = identity().run_id;
    let again = || start(Some(to("charge")), Staged::default());
    let open = Rejection::AlreadyStarted { run_id, status: Status::Running };
    given(charging()).when(again()).refused(&open);
    let closing = Closing::Stopped { stop: Stop::Cancel, reason: None };
    let canceled = Rejection::AlreadyStarted { run_id, status: Status::Canceled };
    given([started(), closed(closing)]).when(again()).refused(&canceled);
}

#[test]
fn a_start_does_not_overfill_a_channel() {
    let limits = Limits { channel_messages_max: 2, ..Limits::DEFAULT };
    let run = |messages| given([]).limited(limits).when(start(None, send(messages)));
    run(&[("mail", "1"), ("mail", "2"), ("post", "1")]).fine();
    let full = Rejection::ChannelFull { slot: slot("mail"), size: 3, max: 2 };
    run(&[("mail", "1"), ("post", "1"), ("mail", "2"), ("mail", "3")]).refused(&full);
}

#[test]
fn a_run_that_does_not_exist_takes_no_other_command() {
    let publish = Command::Publish { slot: slot("mail"), values: vec![value(1)] };
    for command in [complete(1, 1, Decision::DeadEnd), publish, fire(1), resume(1), stop(Stop::Terminate)] {
        let run = given([]).when(command).refused(&Rejection::NotFound);
        assert_eq!(run.state, None);
    }
}

#[test]
fn executions_are_numbered_from_one() {
    let run = given(charging());
    assert_eq!(run.run().executions.keys().collect::<Vec<_>>(), [&ExecutionNo(1)]);
    assert_eq!(run.run().executions[&ExecutionNo(1)].id(), "charge-1");
}
