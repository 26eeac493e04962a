//! Writes from outside.

use super::words::{
    attribute_set, charging, complete_and, delete, one, published, send, set, slot, stop, took, wait_met,
    waiting,
};
use super::{Given, given};
use crate::engine::{Command, Decision, Event, Limits, Read, Rejection, Staged, Status, Stop, WriteReport};

fn write(staged: Staged) -> Command {
    Command::Write(WriteReport { staged, ..WriteReport::default() })
}

/// A writer that saw `read` and sets `total` to 9.
fn reading(read: &[(&str, Option<u64>)]) -> Command {
    let reads = read.iter().map(|(attribute, version)| Read::Attribute(slot(attribute), *version)).collect();
    Command::Write(WriteReport { reads, staged: set("total", 9) })
}

/// A run whose attribute `total` was written by transition 1.
fn totalled() -> Given {
    given([charging().to_vec(), vec![attribute_set("total", 5)]].concat())
}

#[test]
fn attributes_come_before_messages_and_messages_meet_waits() {
    let staged = Staged { messages: send(&[("a", "x")]).messages, ..set("total", 1) };
    given(waiting(one("a"))).when(write(staged)).then([
        attribute_set("total", 1),
        published("a", "x"),
        wait_met(1, took(1)),
    ]);
}

#[test]
fn an_attribute_is_deleted() {
    let run = totalled().when(write(delete("total"))).then([Event::AttributeDeleted { slot: slot("total") }]);
    assert!(run.run().attributes.is_empty());
}

#[test]
fn a_writer_that_saw_the_newest_state_writes() {
    let run =
        totalled().when(reading(&[("total", Some(1)), ("none", None)])).then([attribute_set("total", 9)]);
    assert_eq!(run.run().attributes[&slot("total")].version, 2);
}

#[test]
fn a_writer_that_saw_another_state_conflicts() {
    let conflict = Rejection::Conflict { slot: slot("total") };
    let run = totalled().when(reading(&[("total", None)])).refused(&conflict);
    let run = run.when(complete_and(1, 1, Decision::DeadEnd, set("total", 5))).fine();
    let run = run.when(reading(&[("total", Some(1))])).refused(&conflict);
    let run = run.when(write(delete("total"))).fine();
    run.when(reading(&[("total", Some(2))])).refused(&conflict).when(reading(&[("total", None)])).fine();
}

#[test]
fn a_writer_that_read_nothing_never_conflicts() {
    let run = totalled().when(write(set("total", 6))).then([attribute_set("total", 6)]);
    run.when(write(set("total", 7))).then([attribute_set("total", 7)]);
}

#[test]
fn writing_nothing_is_no_transition_and_no_conflict() {
    let reads = vec![Read::Attribute(slot("total"), None)];
    let run = totalled().when(Command::Write(WriteReport { reads, staged: Staged::default() })).then([]);
    assert_eq!(run.run().version, 1);
}

#[test]
fn a_closed_run_is_not_written() {
    let closed = Rejection::Closed { status: Status::Canceled };
    let run = totalled().when(stop(Stop::Cancel)).fine();
    let run = run.when(write(set("total", 6))).refused(&closed);
    let run = run.when(reading(&[("total", None)])).refused(&closed);
    run.when(write(Staged::default())).refused(&closed);
}

#[test]
fn a_write_does_not_overfill_a_channel() {
    let full = Rejection::ChannelFull { slot: slot("a"), size: 2, max: 1 };
    let run = given(charging()).limited(Limits { channel_messages_max: 1, ..Limits::DEFAULT });
    let staged = Staged { messages: send(&[("a", "x"), ("a", "y")]).messages, ..set("total", 1) };
    let run = run.when(write(staged)).refused(&full);
    assert!(run.run().attributes.is_empty());
    run.when(write(send(&[("a", "x")]))).fine().when(write(send(&[("a", "y")]))).refused(&full);
}

#[test]
fn there_is_nothing_to_write_to_without_a_run() {
    given([]).when(write(set("total", 1))).refused(&Rejection::NotFound);
}
