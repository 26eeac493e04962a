//! How far a handler says it has come, and calls that are lost with their process.

use super::given;
use super::words::{attempt, charging, complete, fire, give_up, go, no, report, resume, to, value};
use crate::engine::{Command, Event, Exhausted, FailureKind, Phase, Rejection};
use crate::ids::Epoch;

fn checkpoint(number: u32, rows: u32) -> Command {
    Command::Checkpoint { attempt: attempt(1, number), value: value(rows) }
}

fn stored(rows: u32) -> Event {
    Event::CheckpointStored { execution: no(1), value: value(rows) }
}

#[test]
fn the_last_checkpoint_is_given_to_the_next_attempt() {
    let run = given(charging()).when(checkpoint(1, 10)).does([]);
    let run = run.when(checkpoint(1, 20)).then([stored(20)]);
    // The same again says nothing new.
    let run = run.when(checkpoint(1, 20)).then([]);
    let run = run.when(Command::FailAttempt(report(1, 1))).fine();
    let run = run.at(500).when(fire(1)).fine();
    assert_eq!(run.task(1).checkpoint, Some(value(20)));
    let run = run.when(give_up(1, 2, Exhausted::Park)).fine();
    assert_eq!(run.when(resume(1)).fine().task(1).checkpoint, Some(value(20)));
}

#[test]
fn a_checkpoint_of_an_attempt_that_is_over_is_refused() {
    let run = given(charging()).when(Command::FailAttempt(report(1, 1))).fine();
    let stale = Rejection::StaleAttempt { got: attempt(1, 1), current: None };
    run.when(checkpoint(1, 10)).refused(&stale);
}

#[test]
fn a_checkpoint_is_forgotten_with_its_step() {
    let run = given(charging()).when(checkpoint(1, 10)).fine();
    let run = run.when(complete(1, 1, go([to("charge")]))).fine();
    assert_eq!(run.task(2).checkpoint, None);
}

fn hand_out(number: u32, opening: u64) -> Command {
    Command::HandOut { attempt: attempt(1, number), opening: Epoch(opening), lost_max: 3 }
}

fn handed_out(opening: u64, lost: u32) -> Event {
    Event::HandedOut { execution: no(1), opening: Epoch(opening), lost }
}

#[test]
fn a_call_that_is_lost_three_times_in_a_row_parks_its_step() {
    let run = given(charging()).when(hand_out(1, 2)).then([handed_out(2, 1)]);
    let run = run.when(hand_out(1, 2)).then([]);
    let run = run.when(hand_out(1, 3)).then([handed_out(3, 2)]);
    let run = run.when(hand_out(1, 4)).fine();
    let execution = &run.run().executions[&no(1)];
    assert!(matches!(execution.phase, Phase::Parked(_)));
    assert_eq!(execution.last_failure.as_ref().unwrap().kind, FailureKind::Crash);
    // Whoever lets it go on begins to count anew.
    run.when(resume(1)).fine().when(hand_out(2, 5)).then([handed_out(5, 1)]);
}

#[test]
fn any_report_ends_the_counting() {
    let run = given(charging()).when(hand_out(1, 2)).fine().when(hand_out(1, 3)).fine();
    let run = run.when(Command::FailAttempt(report(1, 1))).fine();
    let run = run.at(500).when(fire(1)).fine();
    run.when(hand_out(2, 4)).then([handed_out(4, 1)]);
}
