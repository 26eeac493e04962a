//! What an operator does to executions that do not go on by themselves.

use super::words::{
    all, any, between, charging, completed, error, fire, followed, give_up, leave, no, nth, one, parked,
    publish, published, scheduled, skip_timer, skipped, slot, started, timer, timer_fired, to, to_wait, took,
    wait_met, wait_started, waiting,
};
use super::words::{closed, complete, output, stop};
use super::{Given, given};
use crate::engine::{Closing, Command, Decision, Exhausted, Limits, Matched, Rejection, Stop};

/// Step `charge`, execution 1, is parked.
fn parked_charge() -> Given {
    given(charging()).when(give_up(1, 1, Exhausted::Park)).then([parked(1, error())])
}

#[test]
fn a_parked_step_that_is_skipped_ends_its_branch() {
    let run = parked_charge().when(leave(1, None)).then([skipped(1)]);
    assert!(run.run().executions.is_empty());
    assert_eq!(run.run().closed, None);
}

#[test]
fn a_run_that_was_to_complete_does_so_when_its_last_parked_step_is_skipped() {
    let events = [charging().to_vec(), vec![scheduled(2, to("ship"))]].concat();
    let run = given(events).when(give_up(1, 1, Exhausted::Park)).fine();
    let done = Decision::Complete(super::words::value("done"));
    let run = run.when(complete(2, 1, done)).then([completed(2), output("ship", 1, "done")]);
    run.when(leave(1, None)).then([skipped(1), closed(Closing::Completed)]);
}

#[test]
fn a_parked_step_that_is_redirected_is_followed_by_another_one() {
    let run =
        parked_charge().when(leave(1, Some(to("refund")))).then([skipped(1), followed(1, 2, to("refund"))]);
    assert_eq!(run.task(2).step, super::words::name("refund"));
}

#[test]
fn a_step_that_is_skipped_gives_its_messages_back() {
    let events = [started(), scheduled(1, to_wait("ask")), scheduled(2, to_wait("ask"))];
    let run = given(events).when(super::words::start_wait(1, 1, between("a", 2, 2))).fine();
    let run = run.when(publish("a", &["1", "2"])).fine().when(give_up(1, 2, Exhausted::Park)).fine();
    assert_eq!(run.run().available(&slot("a")), 0);
    let run = run.when(super::words::start_wait(2, 1, one("a"))).then([wait_started(2, one("a"))]);
    // The other wait is met by what comes back.
    let run = run.when(leave(1, None)).then([skipped(1), wait_met(2, took(1))]);
    assert_eq!(run.run().available(&slot("a")), 1);
}

#[test]
fn only_parked_steps_are_skipped_and_redirected() {
    let not_parked = |execution| Rejection::NotParked { execution: no(execution) };
    for to in [None, Some(to("ship"))] {
        given(charging()).when(leave(1, to.clone())).refused(&not_parked(1));
        given(waiting(one("a"))).when(leave(1, to.clone())).refused(&not_parked(1));
        given(charging()).when(leave(9, to)).refused(&not_parked(9));
    }
}

#[test]
fn a_step_that_a_build_does_not_have_is_left_where_its_handler_would_be_called() {
    let leave = |execution, to| {
        let missing = Some(Box::new(error()));
        Command::LeaveStep { execution: no(execution), missing, to }
    };
    given(charging()).when(leave(1, None)).then([parked(1, error()), skipped(1)]);
    let run = given(charging()).when(leave(1, Some(to("refund"))));
    run.then([parked(1, error()), skipped(1), followed(1, 2, to("refund"))]);
    // One that waits stands for another reason.
    given(waiting(one("a"))).when(leave(1, None)).refused(&Rejection::NotParked { execution: no(1) });
}

#[test]
fn a_run_that_is_over_its_limit_of_steps_may_be_redirected() {
    let full = Limits { executions_max: 1, ..Limits::DEFAULT };
    parked_charge().limited(full).when(leave(1, Some(to("ship")))).fine();
}

#[test]
fn the_next_timer_of_a_wait_can_be_skipped() {
    let run = given(waiting(timer(10)));
    let run = run.when(skip_timer(1)).then([timer_fired(1, 10), wait_met(1, Matched::Plain)]);
    // Nothing of it is due any more.
    run.at(10).when(fire(1)).refused(&Rejection::NothingDue { execution: no(1) });
}

#[test]
fn skipping_takes_one_timer_after_the_other() {
    let both = || all([timer(20), timer(10)]);
    let run = given(waiting(both())).when(skip_timer(1)).then([timer_fired(1, 10)]);
    let matched = Matched::All(vec![Matched::Plain, Matched::Plain]);
    run.when(skip_timer(1)).then([timer_fired(1, 20), wait_met(1, matched)]);
}

#[test]
fn a_timer_that_was_skipped_stays_skipped_until_its_wait_is_over() {
    let run = given(waiting(all([timer(10), one("a")]))).when(skip_timer(1)).then([timer_fired(1, 10)]);
    run.clone().when(skip_timer(1)).refused(&Rejection::NoTimer { execution: no(1) });
    let matched = Matched::All(vec![Matched::Plain, took(1)]);
    run.when(publish("a", &["x"])).then([published("a", "x"), wait_met(1, matched)]);
}

#[test]
fn a_skipped_timer_wins_like_one_that_fired() {
    let run = given(waiting(any([timer(10), one("a")])));
    run.when(skip_timer(1)).then([timer_fired(1, 10), wait_met(1, nth(0, Matched::Plain))]);
}

#[test]
fn a_timer_can_be_skipped_while_the_run_is_paused() {
    let run = given(waiting(timer(10))).when(Command::Pause).fine();
    let run = run.when(skip_timer(1)).then([timer_fired(1, 10), wait_met(1, Matched::Plain)]);
    assert!(!run.run().is_active(), "no attempt starts before the run is resumed");
}

#[test]
fn what_waits_for_no_timer_has_none_to_skip() {
    let no_timer = |execution| Rejection::NoTimer { execution: no(execution) };
    given(charging()).when(skip_timer(1)).refused(&no_timer(1)).when(skip_timer(9)).refused(&no_timer(9));
    given(waiting(one("a"))).when(skip_timer(1)).refused(&no_timer(1));
    parked_charge().when(skip_timer(1)).refused(&no_timer(1));
}

#[test]
fn an_operator_changes_nothing_about_a_run_that_has_ended() {
    let run = parked_charge().when(stop(Stop::Terminate)).fine();
    let status = run.run().status();
    let run = run.when(leave(1, None)).refused(&Rejection::Closed { status });
    run.when(skip_timer(1)).refused(&Rejection::Closed { status });
}
