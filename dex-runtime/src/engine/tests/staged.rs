//! What handlers do beside writing and sending: deletions and notes.

use super::words::{
    attempt, charging, closed, complete_and, complete_with, completed, followed, go, if_empty, name, no, one,
    output, published, rpc, send, slot, start_wait, to, to_wait, value, wait_met, wait_started,
};
use super::{Given, given};
use crate::engine::{
    Closing, Command, Event, Limits, Matched, Note, Read, Rejection, RpcReport, Staged, WaitReport,
};

fn deleting(channel: &str, numbers: &[u64]) -> Staged {
    let deleted = numbers.iter().map(|number| (slot(channel), *number)).collect();
    Staged { deleted, ..Staged::default() }
}

fn deleted(channel: &str, number: u64) -> Event {
    Event::MessageDeleted { slot: slot(channel), number }
}

fn noting(what: &str) -> Staged {
    Staged { notes: vec![Note { name: name(what), value: value(7) }], ..Staged::default() }
}

fn noted(execution: Option<u64>, what: &str) -> Event {
    Event::Noted { execution: execution.map(no), name: name(what), value: value(7) }
}

/// `charge` runs, and two messages wait in `a`.
fn with_two_messages() -> Given {
    given([charging().to_vec(), vec![published("a", "1"), published("a", "2")]].concat())
}

#[test]
fn what_a_step_deletes_is_gone_with_its_decision_and_before_what_it_sends() {
    let staged = Staged { messages: send(&[("a", "3")]).messages, ..deleting("a", &[1]) };
    let run = with_two_messages().when(complete_and(1, 1, go([to("ship")]), staged)).then([
        deleted("a", 1),
        published("a", "3"),
        completed(1),
        followed(1, 2, to("ship")),
    ]);
    assert!(run.run().channels[&slot("a")].queue.keys().eq(&[2, 3]));
}

#[test]
fn a_message_that_is_not_there_is_left_alone() {
    let staged = deleting("a", &[2, 9]);
    let run = with_two_messages().when(complete_and(1, 1, go([to("ship")]), staged));
    run.then([deleted("a", 2), completed(1), followed(1, 2, to("ship"))]);
    let nowhere = deleting("nowhere", &[1]);
    given(charging())
        .when(complete_and(1, 1, go([to("ship")]), nowhere))
        .then([completed(1), followed(1, 2, to("ship"))]);
}

#[test]
fn a_message_that_a_wait_takes_meanwhile_stays_taken() {
    let run = given(charging())
        .when(complete_and(1, 1, go([to_wait("ask"), to("ship")]), send(&[("a", "1")])))
        .fine();
    // `ship` runs and has seen message 1, which `ask` is given now.
    let run = run
        .when(start_wait(2, 1, one("a")))
        .then([wait_started(2, one("a")), wait_met(2, Matched::Messages(1))]);
    let run = run.when(complete_and(3, 1, go([to("mail")]), deleting("a", &[1])));
    let run = run.then([completed(3), followed(3, 4, to("mail"))]);
    assert_eq!(run.task(2).outcome, Some(value("1")));
}

#[test]
fn a_wait_for_deletes_before_it_waits() {
    let run = given(charging())
        .when(complete_and(1, 1, go([to_wait("ask")]), send(&[("a", "1"), ("a", "2")])))
        .fine();
    let report = WaitReport {
        attempt: attempt(2, 1),
        condition: one("a"),
        children: Vec::new(),
        staged: deleting("a", &[1]),
    };
    let run = run.when(Command::StartWait(report)).fine();
    assert_eq!(run.task(2).outcome, Some(value("2")));
}

#[test]
fn an_rpc_runs_again_if_what_it_deletes_is_gone() {
    let report =
        || RpcReport { reads: vec![Read::Message(slot("a"), 1, true)], ..rpc(deleting("a", &[1]), []) };
    let run = with_two_messages().when(Command::ApplyRpc(report()));
    let run = run.then([Event::RpcApplied { rpc: name("patch") }, deleted("a", 1)]);
    run.when(Command::ApplyRpc(report())).refused(&Rejection::Conflict { slot: slot("a") });
    // One that saw that it was not there is right as long as it is not.
    let missing = || {
        let read = Read::Message(slot("a"), 3, false);
        Command::ApplyRpc(RpcReport { reads: vec![read], ..rpc(noting("missing"), []) })
    };
    let run = with_two_messages().when(missing()).fine();
    let third = Command::Publish { slot: slot("a"), values: vec![value("3")] };
    run.when(third).fine().when(missing()).refused(&Rejection::Conflict { slot: slot("a") });
}

#[test]
fn a_channel_whose_messages_are_deleted_is_empty_for_the_same_decision() {
    let finish = |staged| complete_and(1, 1, if_empty(&["a"], "idle", to("more")), staged);
    let all = with_two_messages().when(finish(deleting("a", &[1, 2])));
    all.then([
        deleted("a", 1),
        deleted("a", 2),
        completed(1),
        output("charge", 1, "idle"),
        closed(Closing::Completed),
    ]);
    let one = with_two_messages().when(finish(deleting("a", &[1, 9])));
    one.then([deleted("a", 1), completed(1), followed(1, 2, to("more"))]);
}

#[test]
fn what_is_deleted_makes_room() {
    let limits = Limits { channel_messages_max: 2, ..Limits::DEFAULT };
    let staged =
        |numbers: &[u64]| Staged { messages: send(&[("a", "3")]).messages, ..deleting("a", numbers) };
    let send_one = |numbers: &[u64]| complete_and(1, 1, complete_with("done"), staged(numbers));
    let full = Rejection::ChannelFull { slot: slot("a"), size: 3, max: 2 };
    with_two_messages().limited(limits).when(send_one(&[9])).refused(&full);
    with_two_messages().limited(limits).when(send_one(&[1])).fine();
}

#[test]
fn notes_are_part_of_the_history_and_of_nothing_else() {
    let run = given(charging()).when(complete_and(1, 1, go([to_wait("ask")]), noting("paid")));
    let run = run.then([noted(Some(1), "paid"), completed(1), followed(1, 2, to_wait("ask"))]);
    let report = WaitReport {
        attempt: attempt(2, 1),
        condition: one("a"),
        children: Vec::new(),
        staged: noting("asked"),
    };
    let run = run.when(Command::StartWait(report)).then([noted(Some(2), "asked"), wait_started(2, one("a"))]);
    // An RPC that only notes has changed the run.
    let run = run.when(Command::ApplyRpc(rpc(noting("seen"), [])));
    let run = run.then([Event::RpcApplied { rpc: name("patch") }, noted(None, "seen")]);
    assert_eq!(run.run().version, 4);
    assert!(run.run().attributes.is_empty() && run.run().channels.len() == 1);
}
