//! Channels of maps that nothing is in any more: they leave the run, and no number is given twice.

use super::words::{
    any, charging, complete, complete_and, completed, entry, error, go, leave, no, one, parked, published,
    scheduled, scheduled_by, slot, start_wait, started, to, to_wait, took, value, wait_met, wait_started,
};
use super::{Given, given};
use crate::engine::{
    Command, Condition, Decision, Event, Read, Rejection, RpcReport, Source, Staged, WriteReport,
    fold as refold,
};
use crate::ids::Slot;

fn k() -> Slot {
    entry("a", "k")
}

fn one_of(slot: Slot) -> Condition {
    Condition::Messages { slot, min: 1, max: 1, single: true }
}

fn publish(slot: Slot, texts: &[&str]) -> Command {
    Command::Publish { slot, values: texts.iter().map(value).collect() }
}

fn sent(slot: Slot, text: &str) -> Event {
    Event::MessagePublished { slot, value: value(text) }
}

fn forgotten(slot: Slot) -> Event {
    Event::ChannelForgotten { slot }
}

fn numbers(run: &Given, slot: &Slot) -> Vec<u64> {
    run.run().channels.get(slot).map(|channel| channel.queue.keys().copied().collect()).unwrap_or_default()
}

#[test]
fn an_entry_leaves_when_its_last_message_is_consumed_and_others_stay() {
    let run = given([started(), scheduled(1, to_wait("ask"))]);
    let run = run.when(start_wait(1, 1, one_of(k()))).fine();
    let run = run.when(publish(k(), &["1"])).then([sent(k(), "1"), wait_met(1, took(1))]);
    // The step may still fail, and give it back.
    assert!(run.run().channels.contains_key(&k()));
    let run = run.when(publish(slot("b"), &["1"])).fine();
    let run = run.when(complete(1, 2, go([to("next")]))).then([
        completed(1),
        scheduled_by(Source::Step(no(1)), 2, to("next")),
        forgotten(k()),
    ]);
    assert!(!run.run().channels.contains_key(&k()) && run.run().channels.contains_key(&slot("b")));
}

#[test]
fn an_entry_leaves_when_its_last_message_is_deleted() {
    let run = given(charging()).when(publish(k(), &["1", "2"])).fine();
    let delete = |number| Command::DeleteMessage { slot: k(), number };
    let run = run.when(delete(1)).then([Event::MessageDeleted { slot: k(), number: 1 }]);
    let run = run.when(delete(2)).then([Event::MessageDeleted { slot: k(), number: 2 }, forgotten(k())]);
    run.when(delete(2)).refused(&Rejection::NoSuchMessage { slot: k(), number: 2 });
}

#[test]
fn entries_that_were_only_waited_for_leave_with_the_wait() {
    let run = given([started(), scheduled(1, to_wait("ask"))]);
    let run = run.when(start_wait(1, 1, any([one("b"), one_of(k()), one_of(entry("a", "l"))]))).fine();
    let run = run.when(publish(slot("b"), &["1"])).then([
        published("b", "1"),
        wait_met(1, super::words::nth(0, took(1))),
        forgotten(k()),
        forgotten(entry("a", "l")),
    ]);
    assert_eq!(run.run().channels.len(), 1);
}

#[test]
fn messages_that_are_given_back_keep_their_channel() {
    let wait = [wait_started(1, one_of(k())), sent(k(), "1"), wait_met(1, took(1)), parked(1, error())];
    let events: Vec<_> = [started(), scheduled(1, to_wait("ask"))].into_iter().chain(wait).collect();
    let run = given(events).when(leave(1, None)).fine();
    assert_eq!(numbers(&run, &k()), [1]);
}

#[test]
fn no_number_is_given_twice() {
    let delete = |slot: Slot, number| Command::DeleteMessage { slot, number };
    let run = given(charging()).when(publish(k(), &["1", "2", "3"])).fine();
    let run = run.when(delete(k(), 1)).fine().when(delete(k(), 2)).fine().when(delete(k(), 3)).fine();
    assert_eq!(run.run().channels.len(), 0);
    let run = run.when(publish(k(), &["4"])).fine().when(publish(slot("b"), &["1"])).fine();
    assert_eq!((numbers(&run, &k()), numbers(&run, &slot("b"))), (vec![4], vec![4]));
    // A channel that was there goes on counting by itself.
    let run = run.when(delete(k(), 4)).fine().when(publish(slot("b"), &["2"])).fine();
    assert_eq!(numbers(&run, &slot("b")), [4, 5]);
}

#[test]
fn who_read_the_messages_of_an_entry_that_has_left_conflicts_as_ever() {
    let seen = || Read::Messages(k(), vec![1..=1]);
    let write = |read| {
        let staged = Staged { attributes: vec![(slot("x"), Some(value(1)))], ..Staged::default() };
        Command::Write(WriteReport { reads: vec![read], staged })
    };
    let run = given(charging()).when(publish(k(), &["1"])).fine();
    let run = run.when(write(seen())).fine();
    let run = run.when(Command::DeleteMessage { slot: k(), number: 1 }).fine();
    let conflict = Rejection::Conflict { slot: k() };
    let run = run.when(write(seen())).refused(&conflict);
    let run = run.when(write(Read::Messages(k(), Vec::new()))).fine();
    // Another message is there, in a channel that looks as new.
    let run = run.when(publish(k(), &["2"])).fine();
    run.when(write(seen())).refused(&conflict);
}

#[test]
fn an_rpc_that_empties_an_entry_that_it_has_filled_before_leaves_nothing() {
    let run = given([started(), scheduled(1, to_wait("ask"))]).when(start_wait(1, 1, one_of(k()))).fine();
    let messages = vec![(k(), value("1"))];
    let report = RpcReport {
        rpc: super::words::name("patch"),
        reads: Vec::new(),
        staged: Staged { messages, ..Staged::default() },
        movements: Vec::new(),
        cancels: Vec::new(),
        locks: Vec::new(),
    };
    let run = run.when(Command::ApplyRpc(report)).fine();
    let run = run.when(complete_and(1, 2, Decision::DeadEnd, Staged::default())).fine();
    assert_eq!(run.run().channels.len(), 0);
}

/// A run that has used ten thousand keys once is as small as one that has used none.
#[test]
fn ten_thousand_keys_used_once_leave_a_small_run() {
    let mut run = given([started(), scheduled(1, to_wait("ask"))]);
    for round in 1..=10_000 {
        let key = entry("a", &format!("request-{round}"));
        run = run.when(start_wait(round, 1, one_of(key.clone()))).fine();
        run = run.when(publish(key, &["answer"])).fine();
        run = run.when(complete(round, 2, go([to_wait("ask")]))).fine();
    }
    assert_eq!(run.run().channels.len(), 0);
    assert!(run.run().bytes < 1_000, "{}", run.run().bytes);
    assert_eq!(run.run().numbered, 10_000);
}

/// Histories from before there was such an event fold as they did: their numbers go on by the channel.
#[test]
fn an_old_history_folds_as_it_did() {
    let old = [
        sent(k(), "1"),
        Event::MessageDeleted { slot: k(), number: 1 },
        sent(entry("a", "l"), "1"),
        sent(k(), "2"),
        Event::MessageDeleted { slot: k(), number: 2 },
    ];
    let run = given(charging().into_iter().chain(old));
    assert_eq!((run.run().channels[&k()].published, run.run().numbered), (2, 0));
    // It leaves with its next message.
    let run = run.when(publish(k(), &["3"])).fine();
    let run = run.when(Command::DeleteMessage { slot: k(), number: 3 }).fine();
    assert_eq!((run.run().channels.contains_key(&k()), run.run().numbered), (false, 3));
}

/// Under an alias two channels may be one, in which something is left when one of them leaves.
#[test]
fn what_is_left_of_a_channel_that_was_joined_stays() {
    let joined =
        [sent(k(), "old"), sent(k(), "new"), Event::MessageDeleted { slot: k(), number: 2 }, forgotten(k())];
    let run = given(charging().into_iter().chain(joined));
    assert_eq!((numbers(&run, &k()), run.run().numbered), (vec![1], 2));
    assert!(refold(run.state.clone(), []).is_ok());
}
