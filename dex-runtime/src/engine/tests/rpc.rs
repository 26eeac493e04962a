//! RPCs that may write.

use super::words::{
    attempt, attribute_set, charging, complete_and, delete, go, name, one, published, rpc, scheduled_by,
    send, set, slot, stop, to, took, wait_met, waiting,
};
use super::{Given, given};
use crate::engine::{
    Command, Decision, Event, Limits, Read, Rejection, RpcReport, Source, Staged, Status, Stop,
};

/// An RPC that saw `read` and sets it to 9.
fn reading(read: &[(&str, Option<u64>)]) -> RpcReport {
    let reads = read.iter().map(|(attribute, version)| Read::Attribute(slot(attribute), *version)).collect();
    RpcReport { reads, ..rpc(set("total", 9), []) }
}

fn apply(report: RpcReport) -> Command {
    Command::ApplyRpc(report)
}

fn applied() -> Event {
    Event::RpcApplied { rpc: name("patch") }
}

/// A run whose attribute `total` was written by transition 1.
fn totalled() -> Given {
    given([charging().to_vec(), vec![attribute_set("total", 5)]].concat())
}

#[test]
fn an_rpc_writes_sends_and_starts_in_one_commit() {
    let staged = Staged { messages: send(&[("a", "x")]).messages, ..set("total", 1) };
    given(waiting(one("a"))).when(apply(rpc(staged, [to("b"), to("c")]))).then([
        applied(),
        attribute_set("total", 1),
        published("a", "x"),
        scheduled_by(Source::Rpc(name("patch")), 2, to("b")),
        scheduled_by(Source::Rpc(name("patch")), 3, to("c")),
        wait_met(1, took(1)),
    ]);
}

#[test]
fn an_rpc_that_saw_the_newest_state_is_applied() {
    totalled()
        .when(apply(reading(&[("total", Some(1)), ("none", None)])))
        .then([applied(), attribute_set("total", 9)]);
}

#[test]
fn an_rpc_that_saw_an_older_value_conflicts() {
    let conflict = Rejection::Conflict { slot: slot("total") };
    let run = totalled().when(complete_and(1, 1, Decision::DeadEnd, set("total", 5))).fine();
    // The same value again is a change all the same.
    run.when(apply(reading(&[("total", Some(1))])))
        .refused(&conflict)
        .when(apply(reading(&[("total", Some(2))])))
        .fine();
}

#[test]
fn an_rpc_that_saw_no_value_conflicts_with_one() {
    let conflict = Rejection::Conflict { slot: slot("total") };
    totalled().when(apply(reading(&[("total", None)]))).refused(&conflict);
}

#[test]
fn an_rpc_that_saw_a_value_conflicts_with_none() {
    let conflict = Rejection::Conflict { slot: slot("total") };
    let run = totalled().when(complete_and(1, 1, Decision::DeadEnd, delete("total"))).fine();
    run.when(apply(reading(&[("total", Some(1))]))).refused(&conflict);
}

#[test]
fn a_value_that_was_deleted_and_set_again_is_another_one() {
    let run = totalled().when(complete_and(1, 1, go([to("b")]), delete("total"))).fine();
    let run = run.when(complete_and(2, 1, Decision::DeadEnd, set("total", 5))).fine();
    run.when(apply(reading(&[("total", Some(1))]))).refused(&Rejection::Conflict { slot: slot("total") });
}

#[test]
fn changes_of_what_an_rpc_did_not_read_are_no_conflict() {
    let run = totalled().when(complete_and(1, 1, Decision::DeadEnd, set("other", 5))).fine();
    run.when(apply(reading(&[("total", Some(1))]))).fine();
}

#[test]
fn an_rpc_that_did_nothing_is_no_transition_and_no_conflict() {
    let report = RpcReport { staged: Staged::default(), ..reading(&[("total", None)]) };
    let run = totalled().when(apply(report)).then([]);
    assert_eq!(run.run().version, 1);
}

#[test]
fn an_rpc_that_did_nothing_is_fine_on_a_closed_run() {
    let run = totalled().when(stop(Stop::Cancel)).fine();
    run.when(apply(rpc(Staged::default(), []))).then([]);
}

#[test]
fn an_rpc_with_effects_is_refused_on_a_closed_run() {
    let closed = Rejection::Closed { status: Status::Canceled };
    let run = totalled().when(stop(Stop::Cancel)).fine();
    let run = run.when(apply(reading(&[("total", Some(1))]))).refused(&closed);
    let run = run.when(apply(reading(&[("total", None)]))).refused(&closed);
    let run = run.when(apply(rpc(send(&[("a", "x")]), []))).refused(&closed);
    run.when(apply(rpc(Staged::default(), [to("b")]))).refused(&closed);
}

#[test]
fn an_rpc_does_not_overfill_the_run() {
    let run =
        given(charging()).limited(Limits { executions_max: 2, channel_messages_max: 1, ..Limits::DEFAULT });
    let run = run
        .when(apply(rpc(Staged::default(), [to("b"), to("c")])))
        .refused(&Rejection::TooManySteps { size: 3, max: 2 });
    let full = Rejection::ChannelFull { slot: slot("a"), size: 2, max: 1 };
    let run = run.when(apply(rpc(send(&[("a", "x"), ("a", "y")]), []))).refused(&full);
    let run = run.when(apply(rpc(send(&[("a", "x")]), [to("b")]))).fine();
    assert_eq!(run.task(2).attempt, attempt(2, 1));
}
