//! What meets a wait, what it takes, and what the step is given.

use super::words::{
    all, any, between, fire, nth, one, publish, published, scheduled, slot, start_wait, started, timer,
    timer_fired, to_wait, took, value, wait_met, wait_started, waiting,
};
use super::{Given, given};
use crate::engine::{Condition, Effect, Event, Limits, Matched, Method, Rejection};
use crate::ids::ExecutionNo;

/// A run whose step `ask` is to say what it waits for, with these messages there already.
fn asked(messages: &[(&str, &str)]) -> Given {
    let mut events = vec![started(), scheduled(1, to_wait("ask"))];
    events.extend(messages.iter().map(|(channel, text)| published(channel, text)));
    given(events)
}

/// How `condition` is met by these messages at second 10, and what the step is given; nothing if it waits.
fn met(condition: Condition, messages: &[(&str, &str)]) -> Option<(Matched, String)> {
    let run = asked(messages).at(10).when(start_wait(1, 1, condition)).fine();
    let outcome = run.run().executions[&ExecutionNo(1)].outcome.clone()?;
    let given = String::from_utf8(run.task(1).outcome.unwrap().as_bytes().to_vec()).unwrap();
    Some((outcome.matched, given))
}

#[track_caller]
fn assert_met(condition: Condition, messages: &[(&str, &str)], matched: Matched, gives: &str) {
    assert_eq!(met(condition, messages), Some((matched, gives.to_owned())));
}

#[track_caller]
fn assert_waits(condition: Condition, messages: &[(&str, &str)]) {
    assert_eq!(met(condition, messages), None);
}

#[test]
fn a_wait_that_is_not_met_stands_and_does_nothing() {
    let run = asked(&[]).when(start_wait(1, 1, one("a"))).then([wait_started(1, one("a"))]);
    assert!(!run.run().is_active());
}

#[test]
fn a_message_meets_a_wait_and_the_step_is_handed_out_with_it() {
    let run = given(waiting(one("a")))
        .when(publish("a", &["hello"]))
        .then([published("a", "hello"), wait_met(1, took(1))]);
    let task = run.task(1);
    assert_eq!((task.method, task.attempt.number), (Method::Execute, 2));
    assert_eq!(task.outcome, Some(value("hello")));
}

#[test]
fn an_execution_knows_since_when_it_stands_where_it_stands() {
    let since = |run: &Given| run.run().executions[&ExecutionNo(1)].since;
    let run = asked(&[]);
    assert_eq!(since(&run), super::at(0));
    let run = run.at(5).when(start_wait(1, 1, one("a"))).fine();
    assert_eq!(since(&run), super::at(5));
    let run = run.at(9).when(publish("a", &["x"])).fine();
    assert_eq!(since(&run), super::at(9));
}

#[test]
fn a_message_that_came_before_the_wait_is_there_for_it() {
    asked(&[("a", "early")])
        .when(start_wait(1, 1, one("a")))
        .then([wait_started(1, one("a")), wait_met(1, took(1))]);
}

#[test]
fn a_wait_for_nothing_is_met_at_once() {
    assert_met(Condition::Ready(value(7)), &[], Matched::Plain, "7");
}

#[test]
fn what_wait_for_computed_is_given_beside_the_outcome() {
    let with = Condition::With(Box::new(one("a")), value("local"));
    assert_met(with, &[("a", "x")], Matched::With(Box::new(took(1))), r#"["x","local"]"#);
}

#[test]
fn any_takes_the_first_written_of_those_that_can_be_met() {
    let either = || any([one("a"), one("b")]);
    assert_met(either(), &[("b", "x"), ("a", "y")], nth(0, took(1)), r#"{"0":"y"}"#);
    assert_met(either(), &[("b", "x")], nth(1, took(1)), r#"{"1":"x"}"#);
    let untagged = Condition::Any { of: vec![one("a"), one("b")], tagged: false };
    assert_met(untagged, &[("b", "x")], nth(1, took(1)), r#"[1,"x"]"#);
}

#[test]
fn only_the_winner_of_any_takes_messages() {
    let run = asked(&[("a", "x"), ("b", "y")]).when(start_wait(1, 1, any([one("a"), one("b")]))).fine();
    assert_eq!((run.run().available(&slot("a")), run.run().available(&slot("b"))), (0, 1));
}

#[test]
fn all_needs_every_part() {
    let both = || all([one("a"), between("b", 1, 1), timer(5)]);
    assert_waits(both(), &[("a", "x")]);
    let matched = Matched::All(vec![took(1), took(1), Matched::Plain]);
    assert_met(both(), &[("a", "x"), ("b", "y")], matched, r#"["x",["y"],null]"#);
}

#[test]
fn minimums_of_one_channel_add_up() {
    let three = || all([one("a"), between("a", 2, 2)]);
    assert_waits(three(), &[("a", "1"), ("a", "2")]);
    let matched = Matched::All(vec![took(1), took(2)]);
    assert_met(three(), &[("a", "1"), ("a", "2"), ("a", "3")], matched, r#"["1",["2","3"]]"#);
}

#[test]
fn minimums_go_before_what_a_part_may_take_beside_its_own() {
    let parts = all([between("a", 0, 9), one("a")]);
    let matched = Matched::All(vec![took(2), took(1)]);
    assert_met(parts, &[("a", "1"), ("a", "2"), ("a", "3")], matched, r#"[["1","2"],"3"]"#);
}

#[test]
fn what_is_left_goes_to_the_parts_in_the_order_written() {
    let parts = all([between("a", 1, 2), between("a", 1, u32::MAX)]);
    let messages = [("a", "1"), ("a", "2"), ("a", "3"), ("a", "4")];
    let matched = Matched::All(vec![took(2), took(2)]);
    assert_met(parts, &messages, matched, r#"[["1","2"],["3","4"]]"#);
}

#[test]
fn at_least_takes_all_there_are_once_there_are_enough() {
    assert_waits(between("a", 2, u32::MAX), &[("a", "1")]);
    let three = [("a", "1"), ("a", "2"), ("a", "3")];
    assert_met(between("a", 2, u32::MAX), &three, took(3), r#"["1","2","3"]"#);
}

#[test]
fn up_to_is_met_at_once_with_what_there_is() {
    assert_met(between("a", 0, 2), &[], took(0), "[]");
    assert_met(between("a", 0, 2), &[("a", "1")], took(1), r#"["1"]"#);
    assert_met(between("a", 0, 2), &[("a", "1"), ("a", "2"), ("a", "3")], took(2), r#"["1","2"]"#);
    assert_met(between("a", 0, 0), &[("a", "1")], took(0), "[]");
}

#[test]
fn an_exact_number_leaves_the_rest() {
    assert_waits(between("a", 2, 2), &[("a", "1")]);
    assert_met(between("a", 2, 2), &[("a", "1"), ("a", "2"), ("a", "3")], took(2), r#"["1","2"]"#);
}

#[test]
fn groups_are_met_as_wholes() {
    let groups = || any([all([one("a"), one("b")]), all([one("b"), one("c")])]);
    assert_waits(groups(), &[("a", "x"), ("c", "z")]);
    let second = nth(1, Matched::All(vec![took(1), took(1)]));
    assert_met(groups(), &[("b", "y"), ("c", "z")], second, r#"{"1":["y","z"]}"#);
}

#[test]
fn a_group_that_fails_half_way_keeps_nothing() {
    let groups = any([all([one("a"), one("b")]), all([one("a"), timer(5)])]);
    let second = nth(1, Matched::All(vec![took(1), Matched::Plain]));
    assert_met(groups, &[("a", "x")], second, r#"{"1":["x",null]}"#);
}

#[test]
fn a_group_that_fails_half_way_leaves_all_to_the_next_one() {
    let groups = any([all([one("a"), one("b")]), between("a", 0, 9)]);
    let messages = [("a", "1"), ("a", "2")];
    assert_met(groups, &messages, nth(1, took(2)), r#"{"1":["1","2"]}"#);
}

#[test]
fn alternatives_that_compete_for_a_message_are_chosen_so_that_all_are_met() {
    let parts = || all([any([one("a"), one("b")]), one("a")]);
    assert_waits(parts(), &[("a", "x")]);
    let matched = Matched::All(vec![nth(1, took(1)), took(1)]);
    assert_met(parts(), &[("a", "x"), ("b", "y")], matched, r#"[{"1":"y"},"x"]"#);
    let two = [("a", "1"), ("a", "2"), ("b", "y")];
    assert_met(parts(), &two, Matched::All(vec![nth(0, took(1)), took(1)]), r#"[{"0":"1"},"2"]"#);
}

#[test]
fn a_group_written_first_wins_although_its_parts_compete() {
    let parts = any([all([any([one("a"), one("b")]), one("a")]), one("z"), one("b")]);
    let first = nth(0, Matched::All(vec![nth(1, took(1)), took(1)]));
    assert_met(parts, &[("a", "x"), ("b", "y")], first, r#"{"0":[{"1":"y"},"x"]}"#);
}

#[test]
fn groups_that_compete_in_too_many_ways_are_given_up_in_good_time() {
    let channels: Vec<_> = (0..12).map(|i| format!("c{i}")).collect();
    // Twelve places for eleven messages: no way out, and 12^12 ways to try.
    let part = || any(channels.iter().map(|channel| one(channel)));
    let messages: Vec<_> = channels.iter().skip(1).map(|channel| (channel.as_str(), "x")).collect();
    let hopeless = || all((0..12).map(|_| part()));
    assert_waits(hopeless(), &messages);
    let other = any([hopeless(), between("c1", 0, 9)]);
    assert_met(other, &messages, nth(1, took(1)), r#"{"1":["x"]}"#);
}

#[test]
fn nested_groups_are_met_from_the_inside() {
    let nested = any([one("z"), all([any([one("a"), timer(99)]), any([timer(5), one("b")])])]);
    let matched = nth(1, Matched::All(vec![nth(0, took(1)), nth(0, Matched::Plain)]));
    assert_met(nested, &[("a", "x")], matched, r#"{"1":[{"0":"x"},{"0":null}]}"#);
}

#[test]
fn a_group_without_parts_is_refused() {
    for empty in [any([]), all([]), any([one("a"), all([])]), Condition::With(Box::new(any([])), value(1))] {
        asked(&[]).when(start_wait(1, 1, empty)).refused(&Rejection::EmptyWait);
    }
}

#[test]
fn a_count_that_no_channel_can_have_is_refused() {
    let limits = Limits { channel_messages_max: 5, ..Limits::DEFAULT };
    let asked = || asked(&[]).limited(limits);
    let refused = |min, max| Rejection::ImpossibleCount { slot: slot("a"), min, max, limit: 5 };
    asked().when(start_wait(1, 1, between("a", 3, 2))).refused(&refused(3, 2));
    asked().when(start_wait(1, 1, any([one("b"), between("a", 6, u32::MAX)]))).refused(&refused(6, u32::MAX));
    let single = Condition::Messages { slot: slot("a"), min: 0, max: 1, single: true };
    asked().when(start_wait(1, 1, single)).refused(&refused(0, 1));
    asked().when(start_wait(1, 1, between("a", 5, u32::MAX))).fine();
}

#[test]
fn a_message_wakes_who_waits_longest_first() {
    let run = given([
        started(),
        scheduled(1, to_wait("ask")),
        scheduled(2, to_wait("ask")),
        wait_started(2, one("a")),
        wait_started(1, one("a")),
    ]);
    run.when(publish("a", &["x", "y", "z"])).then([
        published("a", "x"),
        published("a", "y"),
        published("a", "z"),
        wait_met(1, took(1)),
        wait_met(2, took(1)),
    ]);
}

#[test]
fn a_message_wakes_nobody_who_waits_for_another_channel() {
    let run = given(waiting(one("a"))).when(publish("b", &["x"])).then([published("b", "x")]);
    assert!(!run.run().is_active());
}

#[test]
fn messages_of_a_channel_map_entry_meet_only_its_own_wait() {
    let entry = |key: &str| crate::ids::Slot { key: Some(key.try_into().unwrap()), ..slot("a") };
    let of = |key| Condition::Messages { slot: entry(key), min: 1, max: 1, single: true };
    let message = |key| Event::MessagePublished { slot: entry(key), value: value(1) };
    let publish = |key| crate::engine::Command::Publish { slot: entry(key), values: vec![value(1)] };
    given(waiting(of("k1")))
        .when(publish("k2"))
        .then([message("k2")])
        .when(publish("k1"))
        .then([message("k1"), wait_met(1, took(1))]);
}

#[test]
fn a_wait_with_several_timers_is_armed_for_the_next_one() {
    let run = asked(&[]).when(start_wait(1, 1, all([timer(20), timer(10), one("a")])));
    let armed = |second| Effect::ArmTimer { execution: ExecutionNo(1), at: super::at(second) };
    run.does([armed(10)])
        .at(10)
        .when(fire(1))
        .does([armed(20)])
        .at(20)
        .when(fire(1))
        .then([timer_fired(1, 20)]);
}

#[test]
fn a_wait_with_too_many_groups_inside_one_another_is_refused() {
    let nested = |groups: usize| (0..groups).fold(one("paid"), |inner, _| all([inner]));
    let max = Condition::DEPTH_MAX;
    asked(&[]).when(start_wait(1, 1, nested(max))).refused(&Rejection::WaitTooDeep { max });
    asked(&[]).when(start_wait(1, 1, nested(max - 1))).fine();
}
