//! Messages from outside.

use super::given;
use super::words::{between, charging, one, publish, published, slot, stop, took, wait_met, waiting};
use crate::engine::{Limits, Rejection, Status, Stop};

#[test]
fn messages_are_kept_in_the_order_of_arrival() {
    let run =
        given(charging()).when(publish("a", &["1", "2"])).then([published("a", "1"), published("a", "2")]);
    let run = run.when(publish("a", &["3"])).fine();
    let numbers: Vec<_> = run.run().channels[&slot("a")].queue.keys().copied().collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn messages_that_come_together_meet_a_wait_together() {
    given(waiting(between("a", 1, u32::MAX))).when(publish("a", &["1", "2"])).then([
        published("a", "1"),
        published("a", "2"),
        wait_met(1, took(2)),
    ]);
}

#[test]
fn no_messages_are_no_transition() {
    let run = given(charging()).when(publish("a", &[])).then([]);
    assert_eq!(run.run().version, 1);
}

#[test]
fn a_full_channel_takes_no_message_and_keeps_those_it_has() {
    let limits = Limits { channel_messages_max: 2, ..Limits::DEFAULT };
    let full = Rejection::ChannelFull { slot: slot("a"), size: 3, max: 2 };
    let run = given(charging()).limited(limits);
    let run = run.when(publish("a", &["1", "2", "3"])).refused(&full);
    let run = run.when(publish("a", &["1", "2"])).fine().when(publish("a", &["3"])).refused(&full);
    run.when(publish("b", &["1"])).fine();
}

#[test]
fn reserved_messages_count_as_held() {
    let limits = Limits { channel_messages_max: 2, ..Limits::DEFAULT };
    let full = Rejection::ChannelFull { slot: slot("a"), size: 3, max: 2 };
    let run = given(waiting(one("a"))).limited(limits).when(publish("a", &["1", "2"])).fine();
    assert_eq!(run.run().available(&slot("a")), 1);
    run.when(publish("a", &["3"])).refused(&full);
}

#[test]
fn a_closed_run_takes_no_message() {
    let closed = Rejection::Closed { status: Status::Terminated };
    given(charging()).when(stop(Stop::Terminate)).fine().when(publish("a", &["1"])).refused(&closed);
}
