//! Pausing and resuming.

use super::words::{
    charging, complete, complete_with, fire, give_up, go, one, publish, resume, stop, timer, to, waiting,
};
use super::{Effect, given, outstanding};
use crate::engine::{Command, Decision, Event, Exhausted, Rejection, Status, Stop};

#[test]
fn a_paused_run_hands_nothing_out() {
    let run = given(charging()).when(Command::Pause).then([Event::RunPaused]);
    assert_eq!(run.run().status(), Status::Paused);
    assert!(outstanding(run.run()).is_empty());
    assert!(!run.run().is_active());
    // A handler that runs goes on, and what it decides counts; what follows is held back.
    let run = run.when(complete(1, 1, go([to("next")]))).does([]);
    let task = run.clone().when(Command::Resume).fine().task(2);
    run.when(Command::Resume).does([Effect::Dispatch(Box::new(task))]);
}

#[test]
fn messages_meet_waits_during_a_pause_and_the_step_follows_after_it() {
    let run = given(waiting(one("a"))).when(Command::Pause).fine();
    let run = run.when(publish("a", &["x"])).does([]);
    let run = run.when(Command::Resume).fine();
    assert_eq!(run.task(1).attempt.number, 2);
}

#[test]
fn timers_do_not_fire_during_a_pause_and_are_armed_again_after_it() {
    let run = given(waiting(timer(10))).when(Command::Pause).fine();
    let run = run.at(20).when(fire(1)).refused(&Rejection::Paused);
    let armed = Effect::ArmTimer { execution: super::words::no(1), at: super::words::at(10) };
    run.when(Command::Resume).does([armed]).when(fire(1)).fine();
}

#[test]
fn pausing_and_resuming_twice_changes_nothing() {
    let run = given(charging()).when(Command::Resume).then([]);
    let run = run.when(Command::Pause).fine().when(Command::Pause).then([]);
    run.when(Command::Resume).then([Event::RunResumed]).when(Command::Resume).then([]);
}

#[test]
fn a_paused_run_completes_stops_and_lets_parked_steps_go() {
    let run = given(charging()).when(Command::Pause).fine();
    let done = run.clone().when(complete(1, 1, complete_with("done"))).fine();
    assert_eq!(done.run().status(), Status::Completed);
    let stopped = run.clone().when(stop(Stop::Terminate)).fine();
    assert_eq!(stopped.run().status(), Status::Terminated);
    let run = run.when(give_up(1, 1, Exhausted::Park)).fine();
    let run = run.when(resume(1)).does([]);
    assert_eq!(run.when(Command::Resume).fine().task(1).attempt.number, 2);
}

#[test]
fn a_closed_run_is_neither_paused_nor_resumed() {
    let run = given(charging()).when(complete(1, 1, Decision::CompleteNow(super::words::value(1)))).fine();
    let closed = Rejection::Closed { status: Status::Completed };
    run.when(Command::Pause).refused(&closed).when(Command::Resume).refused(&closed);
}
