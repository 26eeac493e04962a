//! The time of a run as a whole.

use std::time::Duration;

use super::words::{at, closed, complete, fire, identity, no, plan, scheduled_by, target, to};
use super::{Effect, Given, given};
use crate::engine::{
    Closing, Command, Decision, Event, Movement, Rejection, RunTimeout, Source, Staged, Start, Status,
    TimeoutAction,
};
use crate::value::Payload;

/// A run with a step that runs and a minute that is up at second 60.
fn timed(then: TimeoutAction) -> Given {
    let timeout = Some((Duration::from_mins(1), then.clone()));
    let start = Start {
        identity: identity(),
        movement: Some(to("charge")),
        staged: Staged::default(),
        timeout,
        call: None,
    };
    let timeout = Some(RunTimeout { at: at(60), then });
    given([])
        .when(Command::Start(start))
        .then([Event::RunStarted { identity: identity(), timeout }, super::words::scheduled(1, to("charge"))])
}

#[test]
fn the_time_of_a_run_is_armed_with_its_start() {
    let run = timed(TimeoutAction::Fail);
    let armed = Effect::ArmTimer { execution: no(0), at: at(60) };
    assert!(super::outstanding(run.run()).contains(&armed));
    run.at(59).when(fire(0)).refused(&Rejection::NothingDue { execution: no(0) });
}

#[test]
fn a_run_whose_time_is_up_fails() {
    let run = timed(TimeoutAction::Fail).at(60).when(fire(0));
    let run = run.then([Event::TimeoutReached, closed(Closing::TimedOut)]);
    assert_eq!(run.run().status(), Status::Failed);
}

#[test]
fn a_run_whose_time_is_up_is_cancelled_with_its_grace_and_clean_up() {
    let run = timed(TimeoutAction::Cancel(plan(5, Some("clean")))).at(60).when(fire(0));
    let reason = Some("the run's time was up".to_owned());
    let requested = Event::CancelRequested { reason, until: at(65), cleanup: Some(target("clean")) };
    let run = run.then([Event::TimeoutReached, requested]);
    let run = run.at(65).when(fire(0)).fine();
    let run = run.when(complete(2, 1, Decision::DeadEnd)).fine();
    assert_eq!(run.run().status(), Status::Canceled);
}

#[test]
fn a_run_whose_time_is_up_starts_its_step_and_goes_on() {
    let run = timed(TimeoutAction::Step(target("late"))).at(60).when(fire(0));
    let late = scheduled_by(Source::Timeout, 2, Movement { input: Payload::NULL, ..to("late") });
    let run = run.then([Event::TimeoutReached, late]);
    assert_eq!(run.run().due(), None);
    run.at(99).when(fire(0)).refused(&Rejection::NothingDue { execution: no(0) });
}

#[test]
fn a_run_that_has_ended_or_is_being_cancelled_has_no_time() {
    let run = timed(TimeoutAction::Fail);
    let ended = run.clone().when(complete(1, 1, Decision::CompleteNow(Payload::NULL))).fine();
    assert_eq!(ended.run().due(), None);
    let run = run.when(super::words::cancel(600, None)).fine();
    assert_eq!(run.run().due(), Some(at(600)));
    run.at(60).when(fire(0)).refused(&Rejection::NothingDue { execution: no(0) });
}

#[test]
fn the_time_of_a_paused_run_is_up_after_the_pause() {
    let run = timed(TimeoutAction::Fail).when(Command::Pause).fine();
    let run = run.at(99).when(fire(0)).refused(&Rejection::Paused);
    let run = run.when(Command::Resume).fine();
    assert!(super::outstanding(run.run()).contains(&Effect::ArmTimer { execution: no(0), at: at(60) }));
    run.when(fire(0)).then([Event::TimeoutReached, closed(Closing::TimedOut)]);
}
