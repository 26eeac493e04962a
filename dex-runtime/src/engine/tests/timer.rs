//! What time does to waits and pauses.

use super::given;
use super::words::{
    all, any, at, attempt, charging, fire, no, nth, one, publish, published, scheduled, start_wait, started,
    timer, timer_fired, to_wait, took, wait_met, wait_started, waiting,
};
use crate::engine::{Matched, Rejection};
use crate::ids::ExecutionNo;
use crate::time::Timestamp;

const NOTHING: Rejection = Rejection::NothingDue { execution: ExecutionNo(1) };

#[test]
fn a_timer_whose_time_has_come_meets_the_wait() {
    given(waiting(timer(10))).at(10).when(fire(1)).then([timer_fired(1, 10), wait_met(1, Matched::Plain)]);
}

#[test]
fn a_timer_never_fires_early() {
    let run = given(waiting(timer(10)));
    let mut early = run.clone();
    early.now = Timestamp::from_micros(at(10).as_micros() - 1);
    early.when(fire(1)).refused(&NOTHING);
    run.at(9).when(fire(1)).refused(&NOTHING);
}

#[test]
fn a_timer_of_the_past_is_met_as_the_wait_starts() {
    given([started(), scheduled(1, to_wait("ask"))])
        .at(50)
        .when(start_wait(1, 1, timer(10)))
        .then([wait_started(1, timer(10)), wait_met(1, Matched::Plain)]);
}

#[test]
fn a_timer_of_the_past_beside_others_needs_no_firing() {
    let both = || all([timer(10), one("a")]);
    let run = given([started(), scheduled(1, to_wait("ask"))]).at(50).when(start_wait(1, 1, both()));
    let run = run.does([]).when(fire(1)).refused(&NOTHING);
    let matched = Matched::All(vec![Matched::Plain, took(1)]);
    run.when(publish("a", &["x"])).then([published("a", "x"), wait_met(1, matched)]);
}

#[test]
fn a_timer_and_a_message_of_the_same_moment_go_by_the_order_written() {
    let run = |condition| given(waiting(condition)).at(10).when(publish("a", &["x"]));
    // The timer has come, though nobody has fired it yet.
    run(any([timer(10), one("a")])).then([published("a", "x"), wait_met(1, nth(0, Matched::Plain))]);
    run(any([one("a"), timer(10)])).then([published("a", "x"), wait_met(1, nth(0, took(1)))]);
    given(waiting(any([timer(10), one("a")])))
        .at(9)
        .when(publish("a", &["x"]))
        .then([published("a", "x"), wait_met(1, nth(1, took(1)))]);
}

#[test]
fn a_message_that_lost_against_a_timer_is_there_for_the_next_wait() {
    let run = given(waiting(any([timer(10), one("a")]))).at(10).when(publish("a", &["x"])).fine();
    assert_eq!(run.run().available(&super::words::slot("a")), 1);
}

#[test]
fn a_timer_that_fired_counts_although_the_clock_goes_back() {
    let both = all([timer(10), one("a")]);
    let matched = Matched::All(vec![Matched::Plain, took(1)]);
    given(waiting(both))
        .at(10)
        .when(fire(1))
        .then([timer_fired(1, 10)])
        .at(3)
        .when(publish("a", &["x"]))
        .then([published("a", "x"), wait_met(1, matched)]);
}

#[test]
fn a_timer_is_not_fired_twice() {
    let run = given(waiting(all([timer(10), one("a")]))).at(11).when(fire(1)).then([timer_fired(1, 11)]);
    run.at(12).when(fire(1)).refused(&NOTHING);
}

#[test]
fn a_timer_of_an_ended_wait_fires_nothing() {
    let run = given(waiting(any([one("a"), timer(10)]))).when(publish("a", &["x"])).fine();
    run.at(10).when(fire(1)).refused(&NOTHING);
    given(charging()).at(10).when(fire(9)).refused(&Rejection::NothingDue { execution: no(9) });
}

#[test]
fn a_timer_at_the_end_of_the_year_9999_is_kept() {
    let last = crate::engine::Condition::Timer { at: Timestamp::MAX };
    let mut run = given(waiting(last));
    run.now = Timestamp::MAX;
    let run = run.when(fire(1)).fine();
    assert_eq!(run.task(1).attempt, attempt(1, 2));
}
