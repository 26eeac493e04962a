//! Reading a run back, and telling a damaged history from a sound one.

use super::refold;
use super::words::{
    all, at, attribute_set, charging, closed, completed, error, followed, no, nth, one, output, parked,
    published, scheduled, started, step_failed, timer_fired, to, to_wait, took, wait_met, wait_started,
    waiting,
};
use crate::engine::effect::effects;
use crate::engine::{Broken, Closing, Effect, Event, Matched, Recorded, RunState, invariant};

fn record(sequence: u64, events: impl IntoIterator<Item = Event>) -> Recorded {
    Recorded { sequence, at: at(sequence), events: events.into_iter().collect() }
}

fn read(history: &[Recorded]) -> Result<RunState, Broken> {
    refold(None, history.to_vec()).map(|run| run.expect("a history makes a run"))
}

fn broken(event: &'static str, version: u64) -> Broken {
    Broken { event, version }
}

/// Three transitions of a run.
fn history() -> [Recorded; 3] {
    [
        record(1, [charging().to_vec(), vec![attribute_set("total", 1)]].concat()),
        record(2, [completed(1), followed(1, 2, to_wait("ask"))]),
        record(3, [attribute_set("total", 2), wait_started(2, one("a"))]),
    ]
}

#[test]
fn a_run_is_the_fold_of_its_history() {
    let run = read(&history()).unwrap();
    assert_eq!((run.version, run.scheduled, run.ready), (3, 2, 0));
    assert_eq!(run.executions[&no(2)].since, at(3));
    assert_eq!(run.attributes[&super::words::slot("total")].version, 3);
}

#[test]
fn a_snapshot_and_what_came_after_it_make_the_same_run() {
    let whole = read(&history()).unwrap();
    let history = history();
    for cut in 0..=history.len() {
        let (before, after) = history.split_at(cut);
        let snapshot = refold(None, before.to_vec()).unwrap();
        assert_eq!(refold(snapshot, after.to_vec()).unwrap().as_ref(), Some(&whole));
    }
}

#[test]
fn no_history_is_no_run() {
    assert_eq!(refold(None, Vec::new()), Ok(None));
}

#[test]
fn a_history_with_a_gap_or_a_repetition_is_damaged() {
    let [first, second, third] = history();
    assert_eq!(read(&[first.clone(), third]), Err(broken("a gap", 3)));
    assert_eq!(read(&[first.clone(), second.clone(), second.clone()]), Err(broken("a gap", 2)));
    assert_eq!(read(&[record(2, first.events)]), Err(broken("a gap", 2)));
}

#[test]
fn a_history_begins_with_the_start_and_has_only_one() {
    assert_eq!(read(&[record(1, [completed(1)])]), Err(broken("StepCompleted", 1)));
    assert_eq!(read(&[record(1, [])]), Err(broken("an empty transition", 1)));
    let twice = [record(1, charging()), record(2, [started()])];
    assert_eq!(read(&twice), Err(broken("RunStarted", 2)));
}

#[test]
fn an_event_that_does_not_fit_the_run_is_told_by_name_and_place() {
    let backoff =
        Event::AttemptFailed { execution: no(1), failure: error(), started_at: at(0), retry_at: at(9) };
    let rows: Vec<(Vec<Event>, Event)> = vec![
        (charging().to_vec(), scheduled(3, to("ship"))),
        (charging().to_vec(), completed(2)),
        (charging().to_vec(), step_failed(2)),
        (charging().to_vec(), Event::StepCanceled { execution: no(2) }),
        (charging().to_vec(), wait_started(2, one("a"))),
        (charging().to_vec(), wait_met(1, took(0))),
        (charging().to_vec(), timer_fired(1, 5)),
        (charging().to_vec(), Event::RetryStarted { execution: no(1) }),
        (charging().to_vec(), Event::StepResumed { execution: no(1) }),
        (charging().to_vec(), Event::StepSkipped { execution: no(1) }),
        (waiting(one("a")).to_vec(), wait_met(1, took(1))),
        (waiting(one("a")).to_vec(), wait_met(1, nth(0, took(0)))),
        (waiting(all([one("a"), one("b")])).to_vec(), wait_met(1, Matched::All(vec![took(0)]))),
        (waiting(one("a")).to_vec(), parked(1, error())),
        (waiting(one("a")).to_vec(), backoff),
    ];
    for (history, event) in rows {
        let name = event.name();
        let damaged = [record(1, history), record(2, [event])];
        assert_eq!(read(&damaged), Err(broken(name, 2)));
    }
}

#[test]
fn an_execution_that_was_canceled_gives_its_messages_back() {
    let run = read(&[
        record(1, [waiting(one("a")).to_vec(), vec![published("a", "x"), wait_met(1, took(1))]].concat()),
        record(2, [Event::StepCanceled { execution: no(1) }]),
    ]);
    assert_eq!(run.unwrap().available(&super::words::slot("a")), 1);
}

#[test]
fn an_execution_that_was_canceled_is_called_off() {
    let events = [Event::StepCanceled { execution: no(1) }];
    let run = read(&[record(1, charging()), record(2, events.clone())]).unwrap();
    assert_eq!(effects(&events, &run), [Effect::Revoke { execution: no(1) }]);
}

#[test]
fn an_execution_that_was_canceled_waits_no_longer() {
    let canceled = Event::StepCanceled { execution: no(1) };
    let run = read(&[record(1, waiting(one("a"))), record(2, [canceled])]).unwrap();
    invariant::check(&run).unwrap();
    assert!(run.executions.is_empty());
}

#[test]
fn a_closed_run_reads_back_closed() {
    let run = read(&[
        record(1, charging()),
        record(2, [completed(1), output("charge", 1, ()), closed(Closing::Completed)]),
    ])
    .unwrap();
    assert_eq!(run.closed.unwrap().at, at(2));
    assert!(run.completion_requested);
}
