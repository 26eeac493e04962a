//! How much a run takes, and what happens at the limit.

use super::words::{
    attempt, attribute_set, cancel, charging, closed, complete, complete_and, complete_with, completed,
    delete, error, failure, fire, give_up, go, leave, name, no, one, output, parked, patched_to, publish,
    published, recover_by, report, resume, rpc, scheduled, set, skip_timer, slot, start, start_wait, started,
    stop, timer, to, to_wait, took, value, wait_met, wait_started, waiting,
};
use super::{Given, given};
use crate::engine::{
    ChildNo, ChildRequest, ChildStart, Closing, Command, Condition, Decision, Event, Exhausted, FailureKind,
    Limits, Movement, ParentEnd, Rejection, Staged, Stop, WaitReport, WriteReport,
};

/// A text that takes so many bytes.
fn big(bytes: usize) -> String {
    "x".repeat(bytes - 2)
}

/// `run`, with room for so many bytes more.
fn with_room(run: Given, bytes: usize) -> Given {
    let limits = Limits { state_bytes_max: run.run().bytes + bytes, ..Limits::DEFAULT };
    run.limited(limits)
}

fn write(staged: Staged) -> Command {
    Command::Write(WriteReport { staged, ..WriteReport::default() })
}

fn checkpoint(bytes: usize) -> Command {
    Command::Checkpoint { attempt: attempt(1, 1), value: value(big(bytes)) }
}

fn wait_for_a_child(input: usize) -> Command {
    let start = ChildStart { input: value(big(input)), attributes: Vec::new(), timeout: None };
    let request = ChildRequest { flow: name("parcel"), start, on_parent_end: ParentEnd::Leave };
    Command::StartWait(WaitReport {
        attempt: attempt(1, 1),
        condition: Condition::Child { index: 0 },
        children: vec![request],
        staged: Staged::default(),
    })
}

fn asking() -> Given {
    given([started(), scheduled(1, to_wait("ask"))])
}

fn is_full(run: &Given, command: &Command) {
    let before = run.state.clone();
    let refused = run.clone().when(command.clone());
    match &refused.result {
        Err(Rejection::StateFull { size, limit }) => {
            assert!(*limit == run.limits.state_bytes_max && size > limit, "{command:?}: {size} of {limit}");
        }
        other => panic!("{command:?}: {other:?}"),
    }
    assert_eq!(refused.after.state, before);
}

/// Everything that brings values: with room for them it is carried out, and with a little less it is refused as a
/// whole.
#[test]
fn what_is_too_much_is_refused_in_every_direction() {
    const BYTES: usize = 10_000;
    let execute = || given(charging());
    let staged_messages =
        |bytes| Staged { messages: vec![(slot("m"), value(big(bytes)))], ..Staged::default() };
    let rows: Vec<(Given, Command)> = vec![
        (execute(), publish("m", &[&big(BYTES)])),
        (execute(), publish("m", &[&big(BYTES / 2), &big(BYTES / 2)])),
        (execute(), write(set("a", big(BYTES)))),
        (execute(), write(staged_messages(BYTES))),
        (execute(), Command::ApplyRpc(rpc(set("a", big(BYTES)), []))),
        (execute(), Command::ApplyRpc(rpc(staged_messages(BYTES), []))),
        (execute(), Command::ApplyRpc(rpc(Staged::default(), [big_to(BYTES)]))),
        (execute(), checkpoint(BYTES)),
        (execute(), complete_and(1, 1, Decision::DeadEnd, set("a", big(BYTES)))),
        (execute(), complete_and(1, 1, Decision::DeadEnd, staged_messages(BYTES))),
        (execute(), complete(1, 1, go([big_to(BYTES)]))),
        (execute(), complete(1, 1, complete_with(&big(BYTES)))),
        (execute(), complete(1, 1, Decision::CompleteNow(value(big(BYTES))))),
        (execute().when(give_up(1, 1, Exhausted::Park)).fine(), leave(1, Some(big_to(BYTES)))),
        (asking(), start_wait(1, 1, Condition::With(Box::new(one("m")), value(big(BYTES))))),
        (asking(), wait_for_a_child(BYTES)),
        (
            asking().when(wait_for_a_child(10)).fine(),
            Command::EndChild {
                child: ChildNo { execution: no(1), index: 0 },
                result: value(big(BYTES + 2_000)),
            },
        ),
        (execute(), once(write(set("a", big(BYTES))))),
    ];
    for (run, command) in rows {
        is_full(&with_room(run.clone(), BYTES / 2), &command);
        let roomy = with_room(run, 2 * BYTES).when(command).fine();
        assert!(roomy.run().bytes <= roomy.limits.state_bytes_max);
    }
}

fn big_to(bytes: usize) -> Movement {
    Movement { input: value(big(bytes)), ..to("next") }
}

fn once(command: Command) -> Command {
    Command::Once { request: name("q"), digest: 1, answer: value(()), command: Box::new(command) }
}

#[test]
fn a_start_that_is_too_much_begins_no_run() {
    let limits = Limits { state_bytes_max: 10_000, ..Limits::DEFAULT };
    let none = given([]).limited(limits);
    is_full(&none, &start(None, set("a", big(10_000))));
    is_full(&none, &start(Some(big_to(10_000)), Staged::default()));
    none.when(start(Some(big_to(8_000)), set("a", "1"))).fine();
}

/// The limit itself is not over the limit.
#[test]
fn a_run_may_be_just_full() {
    let exact = given(charging()).when(publish("m", &["1", "2"])).fine().run().bytes;
    let run = given(charging());
    let limits = |state_bytes_max| Limits { state_bytes_max, ..Limits::DEFAULT };
    run.clone().limited(limits(exact)).when(publish("m", &["1", "2"])).fine();
    let full = Rejection::StateFull { size: exact, limit: exact - 1 };
    run.limited(limits(exact - 1)).when(publish("m", &["1", "2"])).refused(&full);
}

/// A run that is full, or over a limit that was set lower meanwhile, is not stuck.
#[test]
fn at_the_limit_all_goes_on_that_does_not_make_the_run_larger() {
    let lowered =
        |events: Vec<Event>| given(events).limited(Limits { state_bytes_max: 1, ..Limits::DEFAULT });
    let full = || {
        lowered(
            charging().into_iter().chain([published("m", "message")]).chain([set_to(&big(500))]).collect(),
        )
    };
    is_full(&full(), &publish("m", &["1"]));
    is_full(&full(), &write(set("b", 1)));
    is_full(&full(), &write(set("a", big(501))));
    let goes_on = [
        write(set("a", big(500))),
        write(set("a", 1)),
        write(delete("a")),
        Command::DeleteMessage { slot: slot("m"), number: 1 },
        complete(1, 1, Decision::DeadEnd),
        complete(1, 1, complete_with("done")),
        complete(1, 1, Decision::Fail { reason: "no".into() }),
        complete(1, 1, go([to("charge")])),
        complete_and(1, 1, Decision::DeadEnd, set("b", 1)),
        give_up(1, 1, Exhausted::Park),
        give_up(1, 1, Exhausted::Proceed),
        give_up(1, 1, recover_by("mend")),
        Command::FailAttempt(report(1, 1)),
        Command::Pause,
        stop(Stop::Cancel),
        stop(Stop::Terminate),
        cancel(5, Some("clean")),
        once(Command::Pause),
    ];
    for command in goes_on {
        full().when(command).fine();
    }
    let parked = || {
        let events = charging().into_iter().chain([parked(1, error())]).collect();
        lowered(events)
    };
    for command in [resume(1), leave(1, None)] {
        parked().when(command).fine();
    }
    lowered(waiting(timer(9)).into()).when(skip_timer(1)).fine();
    lowered(waiting(timer(9)).into()).at(9).when(fire(1)).fine();
    let paused = charging().into_iter().chain([Event::RunPaused]).collect();
    lowered(paused).when(Command::Resume).fine();
    // It takes what it waits for, and consumes it.
    let met = [published("m", "1"), started_wait(), wait_met(1, took(1))];
    let events = [started(), scheduled(1, to_wait("ask"))].into_iter().chain(met).collect();
    lowered(events).when(complete(1, 2, Decision::DeadEnd)).fine();
}

fn started_wait() -> Event {
    wait_started(1, one("m"))
}

fn set_to(text: &str) -> Event {
    attribute_set("a", text)
}

/// What has come has to go again, whatever happened between.
#[test]
fn a_run_that_has_given_everything_away_takes_nothing() {
    let run = given([started(), scheduled(1, to_wait("ask"))]);
    let run = run.when(start_wait(1, 1, Condition::With(Box::new(one("m")), value("local")))).fine();
    let run = run.when(publish("m", &["message"])).fine().when(write(set("a", 1))).fine();
    let run = run.when(Command::Checkpoint { attempt: attempt(1, 2), value: value("half") }).fine();
    let run = run.when(Command::FailAttempt(report(1, 2))).fine().at(2).when(fire(1)).fine();
    let run = run.when(write(delete("a"))).fine();
    let run = run.when(complete(1, 3, go([patched_to("next", 2)]))).fine();
    let run = run.when(complete(2, 1, Decision::DeadEnd)).fine();
    assert_eq!(run.run().bytes, 0);
    assert_eq!(run.run().count_bytes(), 0);
}

#[test]
fn a_failure_of_a_full_run_is_kept_all_the_same() {
    let run = with_room(given(charging()), 0);
    let unworkable = failure(FailureKind::Unworkable);
    let mut report = report(1, 1);
    report.failure = unworkable.clone();
    run.when(Command::FailAttempt(report)).then([parked(1, unworkable)]);
}

#[test]
fn an_output_counts_and_what_its_step_held_does_not_any_more() {
    let run = given(charging()).when(complete(1, 1, complete_with("done"))).then([
        completed(1),
        output("charge", 1, "done"),
        closed(Closing::Completed),
    ]);
    assert!(run.run().bytes < given(charging()).run().bytes);
}
