//! Steps that take over from steps that failed for good.

use super::given;
use super::words::{
    charging, closed, complete, complete_with, completed, error, failure, fire, give_up, name, no, one,
    output, recover_by, recovering, report, scheduled, start_wait, started, step_failed, target, to_wait,
    value,
};
use crate::engine::{
    Closing, Command, Event, Exhausted, FailureKind, FailureReport, Method, Recovery, Source, Status,
    StepTarget,
};

#[test]
fn a_recovery_step_takes_over_with_the_same_input() {
    let run = given(charging())
        .when(give_up(1, 1, recover_by("refund")))
        .then([step_failed(1), recovering(1, "charge", 1, 2, "refund")]);
    let task = run.task(2);
    assert_eq!((task.input, task.number), (value("charge"), 1));
    let recovery = Recovery { step: name("charge"), failure: error(), attempts: 1, may_have_run: true };
    assert_eq!(task.recovery, Some(recovery));
}

#[test]
fn a_recovery_step_knows_how_many_attempts_failed() {
    let run = given(charging()).when(Command::FailAttempt(report(1, 1))).fine().at(2).when(fire(1)).fine();
    run.when(give_up(1, 2, recover_by("refund")))
        .then([step_failed(1), recovering(1, "charge", 2, 2, "refund")]);
}

#[test]
fn a_recovery_step_goes_on_like_any_other() {
    given(charging())
        .when(give_up(1, 1, recover_by("refund")))
        .fine()
        .when(complete(2, 1, complete_with("refunded")))
        .then([completed(2), output("refund", 1, "refunded"), closed(Closing::Completed)]);
}

#[test]
fn a_recovery_step_may_have_a_recovery_step() {
    let run = given(charging()).when(give_up(1, 1, recover_by("refund"))).fine();
    let second = Recovery { step: name("refund"), failure: error(), attempts: 1, may_have_run: true };
    let scheduled = Event::StepScheduled {
        execution: no(3),
        step: name("call"),
        source: Source::Recovery(no(2)),
        input: value("charge"),
        waits: false,
        recovery: Some(second.clone()),
        locks: Vec::new(),
        patch: None,
    };
    let run = run.when(give_up(2, 1, recover_by("call"))).then([step_failed(2), scheduled]);
    assert_eq!(run.task(3).recovery, Some(second));
}

#[test]
fn a_recovery_step_that_fails_without_one_fails_the_run() {
    let run = given(charging()).when(give_up(1, 1, recover_by("refund"))).fine();
    let run = run.when(give_up(2, 1, Exhausted::Fail)).fine();
    assert_eq!(run.run().status(), Status::Failed);
}

#[test]
fn a_recovery_step_may_wait_first_and_sees_the_failure_in_both_methods() {
    let exhausted = Exhausted::Recover(StepTarget { waits: true, ..target("mend") });
    let run = given(charging()).when(give_up(1, 1, exhausted)).fine();
    assert_eq!(run.task(2).method, Method::WaitFor);
    assert!(run.task(2).recovery.is_some());
    let run = run.when(start_wait(2, 1, crate::engine::Condition::Ready(value(1)))).fine();
    assert_eq!(run.task(2).method, Method::Execute);
    assert!(run.task(2).recovery.is_some());
}

#[test]
fn a_wait_for_that_fails_for_good_can_be_recovered_from() {
    let run = given([started(), scheduled(1, to_wait("ask"))]).when(give_up(1, 1, recover_by("mend"))).fine();
    let run = run
        .when(start_wait(1, 1, one("a")))
        .refused(&crate::engine::Rejection::StaleAttempt { got: super::words::attempt(1, 1), current: None });
    let task = run.task(2);
    let recovery = Recovery { step: name("ask"), failure: error(), attempts: 1, may_have_run: false };
    assert_eq!((task.input, task.recovery), (value("ask"), Some(recovery)));
}

#[test]
fn a_step_that_fails_after_its_wait_may_have_run() {
    let run = given([started(), scheduled(1, to_wait("ask"))]);
    let run = run.when(start_wait(1, 1, crate::engine::Condition::Ready(value(1)))).fine();
    let run = run.when(give_up(1, 2, recover_by("mend"))).fine();
    assert!(run.task(2).recovery.unwrap().may_have_run);
}

#[test]
fn a_fatal_error_goes_to_the_recovery_step_at_once() {
    let failure = failure(FailureKind::Fatal);
    let report = FailureReport { failure: failure.clone(), exhausted: recover_by("refund"), ..report(1, 1) };
    let run = given(charging()).when(Command::FailAttempt(report)).fine();
    assert_eq!(run.task(2).recovery.unwrap().failure, failure);
}

#[test]
fn a_completing_run_waits_for_a_recovery() {
    let events = [charging().to_vec(), vec![scheduled(2, to_wait("ask"))]].concat();
    let run = given(events).when(complete(1, 1, complete_with("paid"))).fine();
    let run = run.when(give_up(2, 1, recover_by("mend"))).fine();
    assert_eq!(run.run().status(), Status::Running);
    run.when(complete(3, 1, crate::engine::Decision::DeadEnd))
        .then([completed(3), closed(Closing::Completed)]);
}
