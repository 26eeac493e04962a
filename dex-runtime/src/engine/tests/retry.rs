//! Attempts that fail, pauses, and the end of patience.

use std::time::Duration;

use super::words::{
    charging, closed, complete, error, failure, fire, give_up, name, no, once, one, parked, publish, report,
    resume, scheduled, start_wait, started, step_failed, stop, to_wait, waiting,
};
use super::{Effect, given};
use crate::engine::{
    Closing, Command, Decision, Event, Exhausted, FailureKind, FailureReport, Method, Phase, Rejection,
    RetryPolicy, Status, Stop,
};
use crate::ids::ExecutionNo;
use crate::time::Timestamp;

fn failed(report: FailureReport) -> Command {
    Command::FailAttempt(report)
}

fn with_kind(kind: FailureKind) -> Command {
    failed(FailureReport { failure: failure(kind), ..report(1, 1) })
}

/// When the next attempt of execution 1 starts.
fn retry_at(run: &super::Given) -> Timestamp {
    run.run().executions[&ExecutionNo(1)].due().unwrap()
}

#[test]
fn an_attempt_that_fails_is_followed_by_another_after_a_pause() {
    let when = given(charging()).at(100).when(failed(report(1, 1)));
    let retry_at = retry_at(&when.after);
    let pause = retry_at.since(super::at(100));
    assert!(pause >= Duration::from_millis(900) && pause <= Duration::from_millis(1_100), "{pause:?}");
    assert_eq!(when.result.clone().unwrap().timers_set, [(retry_at, no(1))]);
    let run = when.then([Event::AttemptFailed {
        execution: no(1),
        failure: error(),
        started_at: super::at(0),
        retry_at,
    }]);
    run.at(102).when(fire(1)).then([Event::RetryStarted { execution: no(1) }]);
}

#[test]
fn the_next_attempt_has_a_new_token_and_knows_of_the_failures() {
    let run = given(charging()).when(failed(report(1, 1))).fine().at(2).when(fire(1)).fine();
    let task = run.task(1);
    assert_eq!((task.attempt.number, task.failures, task.method), (2, 1, Method::Execute));
    let last = &run.run().executions[&ExecutionNo(1)].last_failure;
    assert_eq!(last.as_ref(), Some(&error()));
}

#[test]
fn a_pause_that_is_not_over_starts_nothing() {
    let run = given(charging()).when(failed(report(1, 1))).fine();
    let nothing = Rejection::NothingDue { execution: no(1) };
    let run = run.when(fire(1)).refused(&nothing);
    run.when(failed(report(1, 1)))
        .refused(&Rejection::StaleAttempt { got: super::words::attempt(1, 1), current: None });
}

#[test]
fn errors_panics_and_timeouts_are_tried_again() {
    for kind in [FailureKind::Error, FailureKind::Panic, FailureKind::Timeout] {
        let run = given(charging()).when(with_kind(kind)).fine();
        assert!(matches!(run.run().executions[&no(1)].phase, Phase::Backoff { .. }), "{kind}");
    }
}

#[test]
fn a_fatal_error_is_not_tried_again() {
    let fatal = failure(FailureKind::Fatal);
    let closing = Closing::StepFailed { step: name("charge"), number: 1, failure: fatal.clone() };
    let run = given(charging())
        .when(with_kind(FailureKind::Fatal))
        .then([Event::StepFailed { execution: no(1), failure: fatal }, closed(closing)]);
    assert_eq!(run.run().status(), Status::Failed);
}

#[test]
fn what_cannot_succeed_is_parked_whatever_the_policy_says() {
    let unworkable = failure(FailureKind::Unworkable);
    for exhausted in [Exhausted::Fail, Exhausted::Park, super::words::recover_by("mend")] {
        let report = FailureReport { failure: unworkable.clone(), exhausted, ..report(1, 1) };
        let when = given(charging()).when(failed(report));
        assert_eq!(when.result.clone().unwrap().active, Some(false));
        when.then([parked(1, unworkable.clone())]);
    }
}

#[test]
fn the_last_failure_fails_the_run_and_its_other_steps() {
    let events = [charging().to_vec(), vec![scheduled(2, to_wait("ask"))]].concat();
    let closing = Closing::StepFailed { step: name("charge"), number: 1, failure: error() };
    let run = given(events).when(give_up(1, 1, Exhausted::Fail)).then([step_failed(1), closed(closing)]);
    assert!(run.run().executions.is_empty());
}

#[test]
fn a_step_may_be_parked_when_its_attempts_are_used_up() {
    let run = given(charging()).when(give_up(1, 1, Exhausted::Park)).then([parked(1, error())]);
    assert_eq!(run.run().status(), Status::Running);
    let execution = &run.run().executions[&no(1)];
    assert_eq!(
        (&execution.phase, execution.last_failure.as_ref()),
        (&Phase::Parked(Method::Execute), Some(&error()))
    );
}

#[test]
fn a_parked_step_goes_on_where_it_stood_when_it_is_resumed() {
    let run = given(charging()).when(failed(report(1, 1))).fine().at(2).when(fire(1)).fine();
    let run = run.when(give_up(1, 2, Exhausted::Park)).fine();
    let run = run.when(resume(1)).then([Event::StepResumed { execution: no(1) }]);
    let task = run.task(1);
    // Its patience begins anew; its tokens do not.
    assert_eq!((task.attempt.number, task.failures, task.method), (3, 0, Method::Execute));
    run.when(failed(report(1, 3))).fine();
}

#[test]
fn a_parked_wait_for_is_asked_again_when_it_is_resumed() {
    let run = given([started(), scheduled(1, to_wait("ask"))]).when(give_up(1, 1, Exhausted::Park)).fine();
    let run = run.when(resume(1)).fine();
    assert_eq!(run.task(1).method, Method::WaitFor);
    run.when(start_wait(1, 2, one("a"))).fine();
}

#[test]
fn only_parked_steps_are_resumed() {
    let not_parked = |execution| Rejection::NotParked { execution: no(execution) };
    given(charging()).when(resume(1)).refused(&not_parked(1)).when(resume(9)).refused(&not_parked(9));
    given(waiting(one("a"))).when(resume(1)).refused(&not_parked(1));
    given(charging()).when(failed(report(1, 1))).fine().when(resume(1)).refused(&not_parked(1));
}

#[test]
fn a_parked_step_keeps_a_completing_run_open() {
    let events = [charging().to_vec(), vec![scheduled(2, to_wait("ask"))]].concat();
    let run = given(events).when(give_up(2, 1, Exhausted::Park)).fine();
    let run = run.when(complete(1, 1, super::words::complete_with("paid"))).fine();
    assert_eq!(run.run().status(), Status::Running);
}

#[test]
fn a_parked_step_is_not_moved_by_time() {
    let run = given(charging()).when(give_up(1, 1, Exhausted::Park)).fine();
    run.at(9_999_999).when(fire(1)).refused(&Rejection::NothingDue { execution: no(1) });
}

#[test]
fn the_limit_of_attempts_counts_all_of_a_method() {
    let retry = RetryPolicy { attempts: Some(3), ..RetryPolicy::DEFAULT };
    let fails = |number| failed(FailureReport { retry, exhausted: Exhausted::Park, ..report(1, number) });
    let mut run = given(charging());
    for number in [1, 2] {
        run = run.when(fails(number)).fine().at(u64::from(number) * 10).when(fire(1)).fine();
    }
    run.when(fails(3)).then([parked(1, error())]);
}

#[test]
fn the_total_time_runs_from_the_start_of_the_first_attempt() {
    let retry = RetryPolicy { total: Some(Duration::from_mins(1)), ..RetryPolicy::DEFAULT };
    let fails = |number, started| {
        let started_at = super::at(started);
        failed(FailureReport { retry, started_at, exhausted: Exhausted::Park, ..report(1, number) })
    };
    let run = given(charging()).at(15).when(fails(1, 10)).fine().at(17).when(fire(1)).fine();
    run.clone().at(69).when(fails(2, 17)).then([parked(1, error())]);
    // The start of a later attempt counts for nothing.
    let run = run.at(60).when(fails(2, 17)).fine().at(64).when(fire(1)).fine();
    run.at(68).when(fails(3, 64)).then([parked(1, error())]);
}

#[test]
fn a_handler_may_say_when_the_next_attempt_is_to_start() {
    let retry_after = Some(Duration::from_secs(30));
    let run = given(charging()).at(100).when(failed(FailureReport { retry_after, ..report(1, 1) })).fine();
    assert_eq!(retry_at(&run), super::at(130));
}

#[test]
fn each_method_has_its_own_patience() {
    let run = given([started(), scheduled(1, to_wait("ask"))]).when(failed(report(1, 1))).fine();
    let run = run.at(2).when(fire(1)).fine().when(start_wait(1, 2, one("a"))).fine();
    let run = run.when(publish("a", &["x"])).fine();
    let execution = &run.run().executions[&no(1)];
    assert_eq!((execution.failures, execution.first_attempt_at, &execution.last_failure), (0, None, &None));
    assert_eq!(run.task(1).attempt.number, 3);
}

#[test]
fn pauses_grow_with_the_failures_of_the_method() {
    let mut run = given(charging());
    for (number, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0)] {
        run = run.when(failed(report(1, number))).fine();
        let pause = retry_at(&run).since(run.now).as_secs_f64();
        assert!((pause / seconds - 1.0).abs() <= 0.1, "pause {number} is {pause} s");
        run.now = retry_at(&run);
        run = run.when(fire(1)).fine();
    }
}

#[test]
fn a_run_that_is_stopped_in_a_pause_does_not_try_again() {
    let when = given(charging()).when(failed(report(1, 1))).fine().when(stop(Stop::Terminate));
    assert_eq!(when.result.clone().unwrap().timers_cleared.len(), 1);
    let run = when.does([Effect::Close { status: Status::Terminated }]);
    run.at(9).when(fire(1)).refused(&Rejection::Closed { status: Status::Terminated });
}

#[test]
fn one_attempt_means_no_retry() {
    assert_eq!(once().attempts, Some(1));
    let run = given(charging()).when(give_up(1, 1, Exhausted::Fail)).fine();
    run.when(complete(1, 1, Decision::DeadEnd)).refused(&Rejection::Closed { status: Status::Failed });
}
