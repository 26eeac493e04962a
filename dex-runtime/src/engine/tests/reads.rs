//! What a transaction saw, and what makes it see something else.

use super::words::{
    charging, complete_and, go, name, one, published, rpc, set, slot, start_wait, to_wait, value,
};
use super::{Given, given};
use crate::engine::{Command, Event, MapKind, Read, Rejection, RpcReport, Staged, WriteReport, numbers};
use crate::ids::{MapKey, Slot};

fn entry(map: &str, key: &str) -> Slot {
    Slot { name: name(map), key: Some(MapKey::new(key).unwrap()) }
}

fn keys(map: &str, kind: MapKind, seen: &[&str]) -> Read {
    let seen = seen.iter().map(|key| MapKey::new(key).unwrap()).collect();
    Read::Keys { map: name(map), kind, seen }
}

/// An RPC that saw `read` and sets `total`.
fn reading(read: Read) -> Command {
    let report = rpc(set("total", 9), []);
    Command::ApplyRpc(RpcReport { reads: vec![read], ..report })
}

fn staged(slot: Slot, to: Option<i64>) -> Staged {
    Staged { attributes: vec![(slot, to.map(value))], ..Staged::default() }
}

fn write(slot: Slot, to: Option<i64>) -> Command {
    let report = WriteReport { reads: Vec::new(), staged: staged(slot, to) };
    Command::Write(report)
}

fn publish(slot: Slot) -> Command {
    Command::Publish { slot, values: vec![value("m")] }
}

/// A run with the entries `scores[ada]` and `scores[bob]`, and one attribute whose name begins alike.
fn scored() -> Given {
    given(charging())
        .when(write(entry("scores", "bob"), Some(2)))
        .fine()
        .when(write(entry("scores", "ada"), Some(1)))
        .fine()
        .when(write(slot("scores2"), Some(1)))
        .fine()
}

#[test]
fn who_listed_keys_conflicts_when_there_is_another_one_or_one_less() {
    let conflict = Rejection::Conflict { slot: slot("scores") };
    let listed = || reading(keys("scores", MapKind::Attribute, &["ada", "bob"]));
    scored().when(listed()).fine();
    scored().when(write(entry("scores", "cy"), Some(3))).fine().when(listed()).refused(&conflict);
    scored().when(write(entry("scores", "ada"), None)).fine().when(listed()).refused(&conflict);
    // Another key in place of one, so that there are as many as before.
    let moved = scored().when(write(entry("scores", "ada"), None)).fine();
    moved.when(write(entry("scores", "abe"), Some(1))).fine().when(listed()).refused(&conflict);
}

#[test]
fn who_listed_keys_does_not_conflict_with_values_or_with_other_maps() {
    let listed = || reading(keys("scores", MapKind::Attribute, &["ada", "bob"]));
    scored().when(write(entry("scores", "ada"), Some(7))).fine().when(listed()).fine();
    scored().when(write(entry("scores2", "ada"), Some(7))).fine().when(listed()).fine();
    scored().when(publish(entry("scores", "cy"))).fine().when(listed()).fine();
}

#[test]
fn who_read_an_entry_conflicts_when_it_was_written() {
    let read = |version| reading(Read::Attribute(entry("scores", "ada"), version));
    let conflict = Rejection::Conflict { slot: entry("scores", "ada") };
    let version = scored().run().attributes[&entry("scores", "ada")].version;
    scored().when(read(Some(version))).fine();
    scored().when(read(None)).refused(&conflict);
    scored().when(write(entry("scores", "bob"), Some(7))).fine().when(read(Some(version))).fine();
    scored().when(write(entry("scores", "ada"), Some(1))).fine().when(read(Some(version))).refused(&conflict);
}

#[test]
fn who_listed_channels_conflicts_when_one_gets_its_first_message_or_loses_its_last() {
    let listed = |seen: &[&str]| reading(keys("orders", MapKind::Channel, seen));
    let conflict = Rejection::Conflict { slot: slot("orders") };
    let run = || given(charging()).when(publish(entry("orders", "17"))).fine();
    run().when(listed(&["17"])).fine();
    run().when(publish(entry("orders", "17"))).fine().when(listed(&["17"])).fine();
    run().when(publish(entry("orders", "18"))).fine().when(listed(&["17"])).refused(&conflict);
    let deleted = run().when(Command::DeleteMessage { slot: entry("orders", "17"), number: 1 }).fine();
    deleted.when(listed(&["17"])).refused(&conflict).when(listed(&[])).fine();
}

#[test]
fn who_read_a_channel_conflicts_when_its_messages_are_others() {
    let run = || given([charging().to_vec(), vec![published("a", "1"), published("a", "2")]].concat());
    let seen = numbers(&run().run().channels[&slot("a")].queue);
    assert_eq!(seen, [1..=2]);
    let (size, messages) =
        (|| reading(Read::Size(slot("a"), 2)), || reading(Read::Messages(slot("a"), vec![1..=2])));
    let conflict = Rejection::Conflict { slot: slot("a") };
    run().when(size()).fine().when(messages()).fine();
    let more = run().when(publish(slot("a"))).fine();
    more.when(size()).refused(&conflict).when(messages()).refused(&conflict);
    // As many as before, but not the same.
    let others = run().when(publish(slot("a"))).fine();
    let others = others.when(Command::DeleteMessage { slot: slot("a"), number: 1 }).fine();
    others.when(size()).fine().when(messages()).refused(&conflict);
    // What a step has taken is not pending.
    let taken = run().when(complete_and(1, 1, go([to_wait("ask")]), Staged::default())).fine();
    let taken = taken.when(start_wait(2, 1, one("a"))).fine();
    taken.when(size()).refused(&conflict);
}

#[test]
fn a_message_is_deleted_once_and_not_from_under_a_step() {
    let delete = |number| Command::DeleteMessage { slot: slot("a"), number };
    let missing = |number| Rejection::NoSuchMessage { slot: slot("a"), number };
    let run = given([charging().to_vec(), vec![published("a", "1"), published("a", "2")]].concat());
    let run = run.when(delete(1)).then([Event::MessageDeleted { slot: slot("a"), number: 1 }]);
    let run = run.when(delete(1)).refused(&missing(1)).when(delete(3)).refused(&missing(3));
    let run = run.when(complete_and(1, 1, go([to_wait("ask")]), Staged::default())).fine();
    let run = run.when(start_wait(2, 1, one("a"))).fine();
    run.when(delete(2)).refused(&missing(2));
    given(charging()).when(delete(1)).refused(&missing(1));
}

#[test]
fn the_numbers_of_messages_are_told_as_runs() {
    let run = given([charging().to_vec(), vec![published("a", "1"); 6]].concat());
    let deleted = run.when(Command::DeleteMessage { slot: slot("a"), number: 3 }).fine();
    let deleted = deleted.when(Command::DeleteMessage { slot: slot("a"), number: 5 }).fine();
    assert_eq!(numbers(&deleted.run().channels[&slot("a")].queue), [1..=2, 4..=4, 6..=6]);
}
