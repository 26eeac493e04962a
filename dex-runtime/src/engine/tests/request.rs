//! Requests with an id.

use super::given;
use super::words::{charging, name, publish, published, rpc, set, start, started, stop, to, value};
use crate::engine::{Command, Event, Read, Rejection, RpcReport, Staged, Stop};

fn once(request: &str, digest: u64, answer: u32, command: Command) -> Command {
    Command::Once { request: name(request), digest, answer: value(answer), command: Box::new(command) }
}

fn answered(request: &str, digest: u64, answer: u32) -> Event {
    Event::RequestAnswered { request: name(request), digest, answer: value(answer) }
}

fn before(request: &str, answer: u32) -> Rejection {
    Rejection::Answered { request: name(request), answer: value(answer) }
}

#[test]
fn a_request_is_carried_out_once_and_answered_alike() {
    let run = given(charging()).when(once("q", 1, 7, publish("a", &["x"])));
    let run = run.then([answered("q", 1, 7), published("a", "x")]);
    let run = run.when(once("q", 1, 8, publish("a", &["x"]))).refused(&before("q", 7));
    run.when(once("r", 1, 8, publish("a", &["x"]))).fine();
}

#[test]
fn other_content_under_an_id_is_refused() {
    let run = given(charging()).when(once("q", 1, 7, publish("a", &["x"]))).fine();
    run.when(once("q", 2, 7, publish("a", &["y"])))
        .refused(&Rejection::RequestMismatch { request: name("q") });
}

#[test]
fn a_refused_request_may_come_again() {
    let locked = Command::ApplyRpc(RpcReport {
        reads: vec![Read::Attribute(super::words::slot("x"), Some(9))],
        ..rpc(set("x", 1), [])
    });
    let run = given(charging()).when(once("q", 1, 7, locked));
    let run = run.refused(&Rejection::Conflict { slot: super::words::slot("x") });
    run.when(once("q", 1, 7, Command::ApplyRpc(rpc(set("x", 1), [])))).fine();
}

#[test]
fn a_start_is_a_request_of_the_run_that_it_starts() {
    let begin = start(Some(to("charge")), Staged::default());
    let run = given([]).when(once("q", 1, 0, begin.clone()));
    let run = run.then([started(), answered("q", 1, 0), super::words::scheduled(1, to("charge"))]);
    run.when(once("q", 1, 0, begin)).refused(&before("q", 0));
}

#[test]
fn a_request_is_answered_after_the_run_has_ended_but_nothing_new_is_kept() {
    let run = given(charging()).when(once("q", 1, 7, stop(Stop::Terminate))).fine();
    let run = run.when(once("q", 1, 7, stop(Stop::Terminate))).refused(&before("q", 7));
    run.when(once("r", 1, 7, Command::ApplyRpc(rpc(Staged::default(), [])))).then([]);
}

#[test]
fn something_that_changed_nothing_is_remembered_too() {
    let run = given(charging()).when(once("q", 1, 7, Command::Resume)).then([answered("q", 1, 7)]);
    run.when(once("q", 1, 7, Command::Resume)).refused(&before("q", 7));
}

#[test]
fn a_run_remembers_its_last_thousand_requests() {
    let mut run = given(charging());
    for number in 0..=1_000 {
        run = run.when(once(&format!("q{number}"), 1, 7, Command::Resume)).fine();
    }
    assert_eq!(run.run().requests.len(), 1_000);
    run.when(once("q1000", 1, 7, Command::Resume)).refused(&before("q1000", 7));
}
