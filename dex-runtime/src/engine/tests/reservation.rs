//! Messages between a wait that is met and the step that consumes them.

use super::words::{
    all, between, complete, complete_and, completed, fire, followed, give_up, go, no, one, publish,
    published, recover_by, recovering, report, scheduled, send, slot, start_wait, started, step_failed, stop,
    to_wait, took, value, wait_met, wait_started,
};
use super::{Given, given};
use crate::engine::{Command, Decision, Exhausted, Matched, Stop};

/// What is queued in channel `a`.
fn queued(run: &Given) -> Vec<String> {
    let channel = &run.run().channels[&slot("a")];
    channel.queue.values().map(|message| message.decode().unwrap()).collect()
}

fn reserved(run: &Given) -> usize {
    run.run().channels[&slot("a")].reserved
}

/// Step `ask` of execution 1 has been given `1` and `2` of the messages `1` to `4`.
fn holding() -> Given {
    let events = [started(), scheduled(1, to_wait("ask")), wait_started(1, between("a", 2, 2))];
    given(events).when(publish("a", &["1", "2", "3", "4"])).fine()
}

#[test]
fn a_wait_that_is_met_reserves_and_the_step_that_commits_consumes() {
    let run = holding();
    assert_eq!((queued(&run), reserved(&run)), (vec!["3".into(), "4".into()], 2));
    assert_eq!(run.run().unconsumed(), 4);
    let run = run.when(complete(1, 2, Decision::DeadEnd)).then([completed(1)]);
    assert_eq!((queued(&run), reserved(&run)), (vec!["3".into(), "4".into()], 0));
    assert_eq!(run.run().unconsumed(), 2);
}

#[test]
fn an_attempt_that_fails_keeps_its_messages_for_the_next_one() {
    let run = holding().when(Command::FailAttempt(report(1, 2))).fine();
    assert_eq!(reserved(&run), 2);
    let run = run.at(2).when(fire(1)).fine();
    assert_eq!(run.task(1).outcome, Some(value(["1", "2"])));
    assert_eq!(run.task(1).attempt.number, 3);
}

#[test]
fn a_parked_step_keeps_its_messages() {
    let run = holding().when(give_up(1, 2, Exhausted::Park)).fine();
    assert_eq!((queued(&run), reserved(&run)), (vec!["3".into(), "4".into()], 2));
    let run = run.when(Command::ResumeStep { execution: no(1) }).fine();
    assert_eq!(run.task(1).outcome, Some(value(["1", "2"])));
}

#[test]
fn a_step_that_fails_for_good_gives_its_messages_back_to_the_front_in_order() {
    let run = holding().when(publish("a", &["5"])).fine();
    let run = run
        .when(give_up(1, 2, recover_by("mend")))
        .then([step_failed(1), recovering(1, "ask", 1, 2, "mend")]);
    assert_eq!((queued(&run), reserved(&run)), (["1", "2", "3", "4", "5"].map(String::from).to_vec(), 0));
}

#[test]
fn a_recovery_step_can_take_the_messages_of_the_step_that_failed() {
    let recover =
        Exhausted::Recover(crate::engine::StepTarget { waits: true, ..super::words::target("mend") });
    let run = holding().when(give_up(1, 2, recover)).fine();
    let run = run
        .when(start_wait(2, 1, between("a", 3, 3)))
        .then([wait_started(2, between("a", 3, 3)), wait_met(2, took(3))]);
    assert_eq!(run.task(2).outcome, Some(value(["1", "2", "3"])));
}

#[test]
fn messages_that_are_given_back_wake_who_waits_for_them() {
    let events = [
        started(),
        scheduled(1, to_wait("ask")),
        scheduled(2, to_wait("ask")),
        wait_started(1, between("a", 2, 2)),
        wait_started(2, between("a", 3, 3)),
    ];
    let run = given(events).when(publish("a", &["1", "2", "3"])).fine();
    let run = run.when(give_up(1, 2, recover_by("mend"))).then([
        step_failed(1),
        recovering(1, "ask", 1, 3, "mend"),
        wait_met(2, took(3)),
    ]);
    assert_eq!(run.task(2).outcome, Some(value(["1", "2", "3"])));
}

#[test]
fn several_steps_give_back_in_the_order_of_the_channel_whoever_fails_first() {
    for first in [1, 2] {
        let events = [
            started(),
            scheduled(1, to_wait("ask")),
            scheduled(2, to_wait("ask")),
            wait_started(1, between("a", 2, 2)),
            wait_started(2, between("a", 2, 2)),
        ];
        let run = given(events).when(publish("a", &["1", "2", "3", "4", "5"])).fine();
        let run = run.when(give_up(first, 2, recover_by("mend"))).fine();
        let run = run.when(give_up(3 - first, 2, recover_by("mend"))).fine();
        assert_eq!(queued(&run), ["1", "2", "3", "4", "5"]);
    }
}

#[test]
fn parts_of_one_channel_take_in_the_order_written_and_give_back_in_order() {
    let events =
        [started(), scheduled(1, to_wait("ask")), wait_started(1, all([one("a"), one("b"), one("a")]))];
    let run = given(events).when(publish("a", &["1", "2", "3"])).fine();
    let matched = Matched::All(vec![took(1), took(1), took(1)]);
    let run = run.when(publish("b", &["x"])).then([published("b", "x"), wait_met(1, matched)]);
    assert_eq!(run.task(1).outcome, Some(value(["1", "x", "2"])));
    let run = run.when(give_up(1, 2, recover_by("mend"))).fine();
    assert_eq!(queued(&run), ["1", "2", "3"]);
}

#[test]
fn what_a_failing_decision_had_taken_is_consumed_and_what_a_failing_step_had_taken_is_not() {
    let fail = Decision::Fail { reason: "no".into() };
    let decided = holding().when(complete(1, 2, fail)).fine();
    assert_eq!(decided.run().closed.as_ref().unwrap().unconsumed, 2);
    let failed = holding().when(give_up(1, 2, Exhausted::Fail)).fine();
    assert_eq!(failed.run().closed.as_ref().unwrap().unconsumed, 4);
    assert_eq!(queued(&failed), ["1", "2", "3", "4"]);
}

#[test]
fn a_stop_gives_reserved_messages_back_so_that_all_can_be_seen() {
    let run = holding().when(stop(Stop::Cancel)).fine();
    assert_eq!(queued(&run), ["1", "2", "3", "4"]);
    assert_eq!((reserved(&run), run.run().closed.as_ref().unwrap().unconsumed), (0, 4));
}

#[test]
fn a_step_that_sends_to_its_own_channel_goes_to_the_back_of_the_queue() {
    let run = holding().when(complete_and(1, 2, go([to_wait("ask")]), send(&[("a", "5")]))).then([
        published("a", "5"),
        completed(1),
        followed(1, 2, to_wait("ask")),
    ]);
    assert_eq!(queued(&run), ["3", "4", "5"]);
}

#[test]
fn fifty_thousand_messages_are_given_back_at_once() {
    let events = [started(), scheduled(1, to_wait("ask")), wait_started(1, between("a", 1, u32::MAX))];
    let run = given(events).when(publish("a", &vec!["x"; 50_000])).fine();
    assert_eq!(reserved(&run), 50_000);
    let run = run.when(give_up(1, 2, recover_by("mend"))).fine();
    let numbers = run.run().channels[&slot("a")].queue.keys().copied();
    assert!(numbers.eq(1..=50_000));
}
