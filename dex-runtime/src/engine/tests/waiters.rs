//! Several waits for the same messages: who gets them, and who is not held up by whom.

use super::words::{
    all, any, between, no, nth, one, publish, published, scheduled, send, slot, started, timer, to_wait,
    took, wait_met, wait_started,
};
use super::{Given, given};
use crate::engine::{Command, Condition, WriteReport};
use crate::ids::Slot;

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

/// Who of those that wait for channel a is looked at first with so many messages in it, and none elsewhere.
fn looked_at(run: &Given, messages: usize) -> Vec<u64> {
    let available = |of: &Slot| if *of == slot("a") { messages } else { 0 };
    let waiting = &run.run().channels[&slot("a")].waiting;
    let there = waiting.firsts(messages).filter(|(need, _)| need.is_there(&slot("a"), available));
    there.map(|(_, first)| first.0).collect()
}

#[test]
fn waits_that_need_more_than_there_is_are_not_looked_at() {
    let alike = std::iter::repeat_n(between("a", 2, 9), 50);
    let run = waiters(&alike.chain([between("a", 3, 3), one("a")]).collect::<Vec<_>>());
    assert!(looked_at(&run, 0).is_empty());
    assert_eq!(looked_at(&run, 1), [52]);
    assert_eq!(looked_at(&run, 2), [52, 1]);
    assert_eq!(looked_at(&run, 3), [52, 1, 51]);
    let waiting = &run.run().channels[&slot("a")].waiting;
    let (need, first) = waiting.firsts(2).nth(1).unwrap();
    assert_eq!(
        (first, waiting.after(no(49), need), waiting.after(no(50), need)),
        (no(1), Some(no(50)), None)
    );
}

#[test]
fn a_group_is_looked_at_once_there_is_what_each_of_its_ways_needs() {
    let looked_at = |condition: Condition, messages| !looked_at(&waiters(&[condition]), messages).is_empty();
    assert!(!looked_at(all([one("a"), one("b")]), 9), "the other channel is empty");
    assert!(looked_at(any([one("a"), one("b")]), 1), "one of them is enough");
    assert!(!looked_at(all([between("a", 2, 3), one("a")]), 2), "parts of one channel add up");
    assert!(looked_at(all([between("a", 2, 3), one("a")]), 3));
    assert!(!looked_at(any([between("a", 3, 3), between("a", 2, 2)]), 1), "the smaller one");
    assert!(looked_at(any([between("a", 3, 3), between("a", 2, 2)]), 2));
    assert!(!looked_at(all([any([one("a"), one("b")]), between("a", 2, 2)]), 1), "whichever way");
    assert!(looked_at(all([any([one("a"), timer(9)]), timer(8)]), 1), "timers and children may be there");
    assert!(!looked_at(any([all([one("a"), one("b")]), one("b")]), 9), "every way needs the other channel");
}
