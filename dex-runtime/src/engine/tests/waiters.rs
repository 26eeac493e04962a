//! Several waits for the same messages: who gets them, and who is not held up by whom.

use super::words::{
    all, any, between, nth, one, publish, published, scheduled, send, started, to_wait, took, wait_met,
    wait_started,
};
use super::{Given, given};
use crate::engine::{Command, Condition, WriteReport};

/// A run in which as many executions wait, in this order.
fn waiters(conditions: &[Condition]) -> Given {
    let scheduled = (1..).zip(conditions).map(|(number, _)| scheduled(number, to_wait("ask")));
    let waiting = (1..).zip(conditions).map(|(number, condition)| wait_started(number, condition.clone()));
    given(std::iter::once(started()).chain(scheduled).chain(waiting).collect::<Vec<_>>())
}

#[test]
fn who_needs_more_than_there_is_does_not_hold_up_those_behind() {
    let run = waiters(&[between("a", 3, 3), one("a"), between("a", 2, 2), one("a")]);
    run.when(publish("a", &["x", "y"])).then([
        published("a", "x"),
        published("a", "y"),
        wait_met(2, took(1)),
        wait_met(4, took(1)),
    ]);
}

#[test]
fn who_waits_longest_comes_first_whatever_the_channel() {
    let run = waiters(&[one("b"), one("a"), one("b"), one("a"), one("a")]);
    let sent = [("a", "1"), ("b", "2"), ("a", "3"), ("b", "4")];
    let published = sent.map(|(channel, text)| published(channel, text));
    let met = [1, 2, 3, 4].map(|execution| wait_met(execution, took(1)));
    let write = WriteReport { staged: send(&sent), ..WriteReport::default() };
    run.when(Command::Write(write)).then(published.into_iter().chain(met));
}

#[test]
fn who_is_passed_by_for_one_channel_is_met_through_another() {
    let run = waiters(&[one("a"), any([one("a"), one("b")]), all([one("a"), one("b")])]);
    let run = run.when(publish("a", &["x"])).then([published("a", "x"), wait_met(1, took(1))]);
    run.when(publish("b", &["y", "z"])).then([
        published("b", "y"),
        published("b", "z"),
        wait_met(2, nth(1, took(1))),
    ]);
}
