//! Cancelling a run: with a grace period, with a clean-up, and what may still happen meanwhile.

use super::words::{
    at, cancel, charging, closed, complete, complete_and, completed, fire, give_up, go, no, one, parked,
    publish, report, rpc, scheduled_by, set, started, stop, target, to, to_wait, waiting,
};
use super::{Effect, Given, given};
use crate::engine::{
    CancelSteps, Closing, Command, Decision, Event, Exhausted, Rejection, Source, Status, Stop,
};

fn canceled() -> Event {
    closed(Closing::Stopped { stop: Stop::Cancel, reason: None })
}

fn requested(until: u64, cleanup: Option<&str>) -> Event {
    Event::CancelRequested { reason: None, until: at(until), cleanup: cleanup.map(target) }
}

fn ended(execution: u64) -> Event {
    Event::StepCanceled { execution: no(execution) }
}

fn cleaning(execution: u64) -> Event {
    scheduled_by(
        Source::Cancel,
        execution,
        crate::engine::Movement { input: crate::value::Payload::NULL, ..to("clean") },
    )
}

/// A run whose step 1 runs and which is being cancelled until second 10.
fn winding_down(cleanup: Option<&str>) -> Given {
    given(charging()).when(cancel(10, cleanup)).then([requested(10, cleanup)])
}

#[test]
fn a_run_in_which_no_handler_runs_is_cancelled_at_once() {
    given(waiting(one("a"))).when(cancel(10, None)).then([canceled()]);
    given([started()]).when(cancel(10, None)).then([canceled()]);
}

#[test]
fn a_handler_that_runs_is_told_and_gets_its_time() {
    let run = given(charging())
        .when(cancel(10, None))
        .does([Effect::Tell { execution: no(1) }, Effect::ArmTimer { execution: no(0), at: at(10) }]);
    assert_eq!(run.run().status(), Status::Running);
    run.clone().at(9).when(fire(0)).refused(&Rejection::NothingDue { execution: no(0) });
    run.at(10).when(fire(0)).then([Event::GraceEnded, ended(1), canceled()]);
}

#[test]
fn what_does_not_run_ends_at_once() {
    let run = given([started(), super::words::scheduled(1, to("fork"))]);
    let run = run.when(complete(1, 1, go([to("a"), to_wait("b")]))).fine();
    let run = run.when(super::words::start_wait(3, 1, one("m"))).fine();
    run.when(cancel(10, None)).then([requested(10, None), ended(3)]);
}

#[test]
fn nothing_follows_from_what_a_handler_decides_meanwhile_but_what_it_wrote_counts() {
    let run = winding_down(None).when(complete_and(1, 1, go([to("next")]), set("total", 1)));
    run.then([super::words::attribute_set("total", 1), completed(1), canceled()]);
    let decisions = [
        Decision::Complete(super::words::value(1)),
        Decision::CompleteNow(super::words::value(1)),
        Decision::Fail { reason: "no".into() },
        Decision::DeadEnd,
    ];
    for decision in decisions {
        winding_down(None).when(complete(1, 1, decision)).then([completed(1), canceled()]);
    }
}

#[test]
fn a_failed_attempt_is_not_tried_again_meanwhile() {
    let failed = Command::FailAttempt(report(1, 1));
    winding_down(None).when(failed).then([super::words::step_failed(1), canceled()]);
}

#[test]
fn a_wait_that_begins_meanwhile_ends() {
    let run = given([started(), super::words::scheduled(1, to_wait("ask"))]).when(cancel(10, None)).fine();
    run.when(super::words::start_wait(1, 1, one("a"))).then([ended(1), canceled()]);
}

#[test]
fn the_clean_up_follows_once_nothing_runs_and_takes_the_time_it_needs() {
    let run =
        winding_down(Some("clean")).when(complete(1, 1, Decision::DeadEnd)).then([completed(1), cleaning(2)]);
    assert_eq!(run.run().due(), None);
    let run = run.when(complete(2, 1, go([to("more")]))).fine();
    run.when(complete(3, 1, Decision::Complete(super::words::value(1)))).then([completed(3), canceled()]);
    // Without a handler that runs it starts at once, and after the grace period in any case.
    given(waiting(one("a"))).when(cancel(10, Some("clean"))).then([
        requested(10, Some("clean")),
        ended(1),
        cleaning(2),
    ]);
    winding_down(Some("clean")).at(10).when(fire(0)).then([Event::GraceEnded, ended(1), cleaning(2)]);
}

#[test]
fn a_clean_up_that_fails_does_not_change_how_the_run_ends() {
    let run = given(waiting(one("a"))).when(cancel(10, Some("clean"))).fine();
    run.when(give_up(2, 1, Exhausted::Fail)).then([super::words::step_failed(2), canceled()]);
    let run = given(waiting(one("a"))).when(cancel(10, Some("clean"))).fine();
    let run = run.when(give_up(2, 1, Exhausted::Park)).then([parked(2, super::words::error())]);
    run.when(stop(Stop::Terminate)).fine();
}

#[test]
fn a_run_that_is_being_cancelled_takes_messages_and_writes_but_no_steps() {
    let run = winding_down(None).when(publish("a", &["x"])).fine();
    let run = run.when(Command::ApplyRpc(rpc(set("total", 1), []))).fine();
    let run = run.when(Command::ApplyRpc(rpc(set("total", 1), [to("b")]))).refused(&Rejection::Canceling);
    let run = run.when(cancel(10, None)).refused(&Rejection::Canceling);
    let run = run.when(Command::Pause).refused(&Rejection::Canceling);
    run.when(stop(Stop::Terminate)).then([closed(Closing::Stopped { stop: Stop::Terminate, reason: None })]);
}

#[test]
fn a_paused_run_is_cancelled_without_starting_what_was_held_back() {
    let run = given(charging()).when(Command::Pause).fine();
    run.clone().when(cancel(10, None)).then([canceled()]);
    let run = run.when(cancel(10, Some("clean")));
    let run = run.then([Event::RunResumed, requested(0, Some("clean")), ended(1), cleaning(2)]);
    assert_eq!(run.task(2).number, 1);
}

#[test]
fn a_decision_ends_all_of_a_step_or_its_siblings_but_never_itself() {
    let run = given([started(), super::words::scheduled(1, to("fork"))]);
    let run = run.when(complete(1, 1, go([to("a"), to("a"), to("fork")]))).fine();
    // 5 is a sibling of nobody else.
    let run = run.when(complete(4, 1, go([to("a")]))).fine();
    let by = |siblings| {
        let cancels = vec![CancelSteps { step: super::words::name("a"), siblings }];
        let report = super::words::step_report(2, 1, Decision::DeadEnd, crate::engine::Staged::default());
        Command::CompleteStep(crate::engine::StepReport { cancels, ..report })
    };
    run.clone().when(by(true)).then([completed(2), ended(3)]);
    run.when(by(false)).then([completed(2), ended(3), ended(5)]);
}
