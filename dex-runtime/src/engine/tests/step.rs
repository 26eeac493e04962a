//! What handlers report.

use super::given;
use super::words::{
    attempt, attribute_set, charging, complete, complete_and, completed, delete, fire, followed, give_up, go,
    no, one, publish, recover_by, report, rpc, scheduled, set, slot, start_wait, started, to, to_wait, value,
    waiting,
};
use crate::engine::{Command, Decision, Event, Exhausted, Limits, Method, Rejection, Staged, WaitReport};

fn stale(execution: u64, number: u32, current: Option<u32>) -> Rejection {
    Rejection::StaleAttempt { got: attempt(execution, number), current }
}

#[test]
fn a_step_ends_and_the_next_one_starts_in_one_commit() {
    let run = given(charging())
        .when(complete(1, 1, go([to("ship")])))
        .then([completed(1), followed(1, 2, to("ship"))]);
    assert_eq!(run.task(2).method, Method::Execute);
    assert_eq!(run.task(2).input, value("ship"));
}

#[test]
fn what_a_step_wrote_takes_effect_with_its_decision() {
    let staged = Staged {
        attributes: [set("paid", true).attributes, delete("due").attributes].concat(),
        messages: vec![(slot("mail"), value("thanks"))],
        ..Staged::default()
    };
    let run = given([started(), attribute_set("due", 5), scheduled(1, to("charge"))])
        .when(complete_and(1, 1, go([to("ship")]), staged))
        .then([
            attribute_set("paid", true),
            Event::AttributeDeleted { slot: slot("due") },
            Event::MessagePublished { slot: slot("mail"), value: value("thanks") },
            completed(1),
            followed(1, 2, to("ship")),
        ]);
    let attributes: Vec<_> = run.run().attributes.keys().collect();
    assert_eq!(attributes, [&slot("paid")]);
}

#[test]
fn of_several_writes_of_one_attribute_the_last_counts() {
    let attributes = [set("n", 1).attributes, delete("n").attributes, set("n", 3).attributes].concat();
    let staged = Staged { attributes, ..Staged::default() };
    let run = given(charging()).when(complete_and(1, 1, go([to("ship")]), staged)).fine();
    assert_eq!(run.run().attributes[&slot("n")].value, value(3));
}

#[test]
fn what_a_wait_for_wrote_takes_effect_with_its_wait() {
    let staged = set("asked", true);
    let report = WaitReport { attempt: attempt(1, 1), condition: one("a"), children: Vec::new(), staged };
    given([started(), scheduled(1, to_wait("ask"))])
        .when(Command::StartWait(report))
        .then([attribute_set("asked", true), Event::WaitStarted { execution: no(1), condition: one("a") }]);
}

#[test]
fn a_completion_reported_twice_is_refused_the_second_time() {
    let done = || complete(1, 1, go([to("ship")]));
    given(charging()).when(done()).fine().when(done()).refused(&stale(1, 1, None));
}

#[test]
fn a_late_report_of_an_earlier_attempt_is_refused() {
    let run = given(charging()).when(Command::FailAttempt(report(1, 1))).fine();
    // Between two attempts none is the current one.
    let run = run.when(complete(1, 1, Decision::DeadEnd)).refused(&stale(1, 1, None));
    let run = run.at(2).when(fire(1)).fine();
    run.when(complete(1, 1, Decision::DeadEnd))
        .refused(&stale(1, 1, Some(2)))
        .when(complete(1, 3, Decision::DeadEnd))
        .refused(&stale(1, 3, Some(2)))
        .when(complete(1, 2, Decision::DeadEnd))
        .then([completed(1)]);
}

#[test]
fn a_step_that_waits_or_is_parked_takes_no_report() {
    let run = given(waiting(one("a")));
    run.clone().when(complete(1, 1, Decision::DeadEnd)).refused(&stale(1, 1, None));
    run.when(Command::FailAttempt(report(1, 1))).refused(&stale(1, 1, None));
    let parked = given(charging()).when(give_up(1, 1, Exhausted::Park)).fine();
    parked.when(complete(1, 1, Decision::DeadEnd)).refused(&stale(1, 1, None));
}

#[test]
fn a_report_about_the_other_method_is_refused() {
    let wrong = Rejection::WrongMethod { execution: no(1) };
    given(charging()).when(start_wait(1, 1, one("a"))).refused(&wrong);
    given([started(), scheduled(1, to_wait("ask"))]).when(complete(1, 1, Decision::DeadEnd)).refused(&wrong);
}

#[test]
fn executions_of_a_step_are_counted_by_step() {
    let run = given(charging()).when(complete(1, 1, go([to("ship"), to("ship"), to("charge")]))).fine();
    let ids: Vec<_> = run.run().executions.values().map(|execution| execution.id()).collect();
    assert_eq!(ids, ["ship-1", "ship-2", "charge-2"]);
}

#[test]
fn a_run_has_a_limited_number_of_open_steps() {
    let limits = Limits { executions_max: 2, ..Limits::DEFAULT };
    let run = given(charging()).limited(limits);
    let full = Rejection::TooManySteps { size: 3, max: 2 };
    let run = run.when(complete(1, 1, go([to("a"), to("b"), to("c")]))).refused(&full);
    // The one that ends makes room.
    let run = run.when(complete(1, 1, go([to("a"), to("b")]))).fine();
    let run = run.when(complete(2, 1, go([to("c"), to("d")]))).refused(&full);
    run.when(give_up(2, 1, recover_by("mend"))).fine();
}

#[test]
fn a_run_over_a_limit_that_was_lowered_goes_on_but_does_not_grow() {
    let limits = Limits { executions_max: 1, ..Limits::DEFAULT };
    let full = Rejection::TooManySteps { size: 3, max: 1 };
    let run = given(charging()).when(complete(1, 1, go([to("a"), to("b")]))).fine().limited(limits);
    let run = run.when(Command::ApplyRpc(rpc(set("total", 1), []))).fine();
    let run = run.when(Command::ApplyRpc(rpc(Staged::default(), [to("c")]))).refused(&full);
    let run = run.when(complete(2, 1, go([to("c"), to("d")]))).refused(&full);
    run.when(complete(2, 1, go([to("c")]))).fine();
}

#[test]
fn a_step_does_not_overfill_a_channel() {
    let limits = Limits { channel_messages_max: 2, ..Limits::DEFAULT };
    let full = Rejection::ChannelFull { slot: slot("a"), size: 3, max: 2 };
    let sends = |texts: &[&str]| Staged {
        messages: texts.iter().map(|text| (slot("a"), value(text))).collect(),
        ..Staged::default()
    };
    let run = given(charging()).limited(limits).when(publish("a", &["1"])).fine();
    let run = run.when(complete_and(1, 1, Decision::DeadEnd, sends(&["2", "3"]))).refused(&full);
    run.when(complete_and(1, 1, Decision::DeadEnd, sends(&["2"]))).fine();
}

#[test]
fn a_step_may_put_back_into_a_full_channel_what_it_took() {
    let limits = Limits { channel_messages_max: 2, ..Limits::DEFAULT };
    let run = given(waiting(one("a"))).limited(limits).when(publish("a", &["1", "2"])).fine();
    let again = |count| Staged { messages: vec![(slot("a"), value("again")); count], ..Staged::default() };
    let full = Rejection::ChannelFull { slot: slot("a"), size: 3, max: 2 };
    run.when(complete_and(1, 2, Decision::DeadEnd, again(2)))
        .refused(&full)
        .when(complete_and(1, 2, Decision::DeadEnd, again(1)))
        .fine();
}
