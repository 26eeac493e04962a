//! Ending a run from outside, wherever it stands.

use super::words::{
    at, charging, closed, complete, complete_with, fire, give_up, no, one, publish, report, resume,
    scheduled, started, stop, timer, to_wait, waiting,
};
use super::{Effect, Given, given};
use crate::engine::{CancelPlan, Closing, Command, Decision, Exhausted, Rejection, Status, Stop};

const STOPS: [(Stop, Status); 3] =
    [(Stop::Cancel, Status::Canceled), (Stop::Terminate, Status::Terminated), (Stop::Fail, Status::Failed)];

/// A run in every place where it can stand open.
fn open_runs() -> Vec<Given> {
    vec![
        given([started()]),
        given(charging()),
        given([started(), scheduled(1, to_wait("ask"))]),
        given(waiting(one("a"))),
        given(waiting(timer(10))),
        given(waiting(one("a"))).when(publish("a", &["x", "y"])).fine(),
        given(charging()).when(Command::FailAttempt(report(1, 1))).fine(),
        given(charging()).when(give_up(1, 1, Exhausted::Park)).fine(),
    ]
}

#[test]
fn a_stop_ends_a_run_wherever_it_stands() {
    for run in open_runs() {
        for (kind, status) in STOPS {
            let stopped = run.clone().when(stop(kind));
            let done = stopped.result.clone().unwrap();
            let due = run.run().executions.iter().filter_map(|(no, execution)| Some((execution.due()?, *no)));
            assert_eq!(done.timers_cleared, due.collect::<Vec<_>>());
            assert_eq!(done.effects, [Effect::Close { status }]);
            let stopped = stopped.then([closed(Closing::Stopped { stop: kind, reason: None })]);
            assert_eq!(stopped.run().status(), status);
            assert_eq!(stopped.run().unconsumed(), run.run().unconsumed());
            assert!(super::outstanding(stopped.run()).is_empty());
        }
    }
}

#[test]
fn the_reason_of_a_stop_is_kept() {
    let reason = Some("no longer wanted".to_owned());
    let command = Command::Stop { stop: Stop::Cancel, reason: reason.clone(), plan: CancelPlan::default() };
    let run = given(charging()).at(7).when(command).fine();
    let closed = run.run().closed.clone().unwrap();
    assert_eq!((closed.at, closed.closing), (at(7), Closing::Stopped { stop: Stop::Cancel, reason }));
}

#[test]
fn the_first_stop_wins() {
    for (first, status) in STOPS {
        for (second, _) in STOPS {
            let run = given(charging()).when(stop(first)).fine();
            run.when(stop(second)).refused(&Rejection::Closed { status });
        }
    }
}

#[test]
fn a_completed_run_is_not_stopped() {
    let run = given(charging()).when(complete(1, 1, complete_with("paid"))).fine();
    run.when(stop(Stop::Terminate)).refused(&Rejection::Closed { status: Status::Completed });
}

#[test]
fn late_reports_of_a_stopped_run_are_refused() {
    let closed = Rejection::Closed { status: Status::Terminated };
    let run = given(charging()).when(stop(Stop::Terminate)).fine();
    let run = run.when(complete(1, 1, Decision::DeadEnd)).refused(&closed);
    let run = run.when(Command::FailAttempt(report(1, 1))).refused(&closed);
    let run = run.when(fire(1)).refused(&closed);
    run.when(resume(1)).refused(&closed);
}

#[test]
fn a_stopped_run_keeps_what_was_scheduled_in_its_counts() {
    let run = given(charging()).when(stop(Stop::Cancel)).fine();
    assert_eq!((run.run().scheduled, run.run().executions.get(&no(1))), (1, None));
}
