//! Steps that have attributes for themselves.

use super::words::{
    attempt, complete, failure, followed, give_up, go, locked_to, locks_taken, no, one, publish, report, rpc,
    set, slot, started, stop, target, to, to_wait, wait_started,
};
use super::{Given, given};
use crate::engine::{
    CancelSteps, Command, Decision, Exhausted, FailureKind, FailureReport, Movement, Phase, Rejection,
    RetryPolicy, RpcReport, Staged, StepReport, StepTarget, Stop,
};

/// A run whose execution 1 has started these.
fn forked(movements: &[Movement]) -> Given {
    let run = given([started(), super::words::scheduled(1, to("fork"))]);
    run.when(complete(1, 1, go(movements.to_vec()))).fine()
}

fn phase(run: &Given, execution: u64) -> &Phase {
    &run.run().executions[&no(execution)].phase
}

fn is_blocked(run: &Given, execution: u64) -> bool {
    *phase(run, execution) == Phase::Blocked
}

#[test]
fn of_two_steps_with_one_lock_the_second_is_handed_out_when_the_first_has_ended() {
    let run = forked(&[locked_to("a", &["x"]), locked_to("b", &["x"])]);
    assert_eq!(run.task(2).attempt, attempt(2, 1));
    assert!(is_blocked(&run, 3));
    let run = run.when(complete(2, 1, Decision::DeadEnd)).then([super::words::completed(2), locks_taken(3)]);
    assert_eq!(run.task(3).attempt, attempt(3, 1));
}

#[test]
fn locks_are_taken_all_at_once_or_not_at_all() {
    let run = forked(&[locked_to("a", &["x"]), locked_to("b", &["x", "y"]), locked_to("c", &["z"])]);
    assert!(is_blocked(&run, 3));
    assert!(!run.run().locks.contains_key(&slot("y")), "what waits holds nothing");
    assert!(!is_blocked(&run, 4));
}

#[test]
fn nobody_overtakes_who_has_waited_longer() {
    // `c` could have `y` at once, but `b` came first and wants it too.
    let run = forked(&[locked_to("a", &["x"]), locked_to("b", &["x", "y"]), locked_to("c", &["y"])]);
    assert!(is_blocked(&run, 4));
    let run = run.when(complete(2, 1, Decision::DeadEnd)).fine();
    assert!(!is_blocked(&run, 3) && is_blocked(&run, 4));
    let run = run.when(complete(3, 1, Decision::DeadEnd)).fine();
    assert!(!is_blocked(&run, 4));
}

#[test]
fn who_gives_up_waiting_lets_those_behind_it_go_on() {
    let run = forked(&[locked_to("a", &["x"]), locked_to("b", &["x", "y"]), locked_to("c", &["y"]), to("d")]);
    let cancels = vec![CancelSteps { step: super::words::name("b"), siblings: false }];
    let ends =
        StepReport { cancels, ..super::words::step_report(5, 1, Decision::DeadEnd, Staged::default()) };
    let run = run.when(Command::CompleteStep(ends)).fine();
    assert!(!is_blocked(&run, 4));
    assert_eq!(run.run().blocked.len(), 0);
}

#[test]
fn a_step_that_waits_first_takes_its_locks_when_its_wait_is_met() {
    let waits = Movement { waits: true, ..locked_to("a", &["x"]) };
    let run = forked(&[waits, locked_to("b", &["x"])]);
    assert!(!is_blocked(&run, 3), "the wait itself holds no lock");
    let run = run.when(super::words::start_wait(2, 1, one("m"))).then([wait_started(2, one("m"))]);
    let run = run.when(publish("m", &["hello"])).fine();
    assert!(is_blocked(&run, 2));
    assert_eq!(run.run().held(&slot("m")), 1, "its message is reserved all the same");
    let run = run.when(complete(3, 1, Decision::DeadEnd)).fine();
    assert_eq!(run.task(2).attempt, attempt(2, 2));
}

#[test]
fn locks_are_kept_over_attempts_and_while_the_step_is_parked() {
    let run = forked(&[locked_to("a", &["x"]), locked_to("b", &["x"])]);
    let run = run.when(Command::FailAttempt(report(2, 1))).fine();
    assert!(matches!(phase(&run, 2), Phase::Backoff { .. }) && is_blocked(&run, 3));
    let run = run.at(500).when(super::words::fire(2)).fine();
    let run = run.when(give_up(2, 2, Exhausted::Park)).fine();
    assert!(matches!(phase(&run, 2), Phase::Parked(_)) && is_blocked(&run, 3));
    let run = run.when(super::words::resume(2)).fine();
    let run = run.when(give_up(2, 3, Exhausted::Proceed)).fine();
    assert!(!is_blocked(&run, 3));
}

#[test]
fn a_recovery_step_gets_the_lock_that_the_failed_step_gives_back() {
    let run = forked(&[locked_to("a", &["x"])]);
    let recovery = StepTarget { locks: vec![slot("x")], ..target("mend") };
    let failed = FailureReport {
        failure: failure(FailureKind::Fatal),
        retry: RetryPolicy::DEFAULT,
        exhausted: Exhausted::Recover(recovery),
        ..report(2, 1)
    };
    let run = run.when(Command::FailAttempt(failed)).fine();
    assert_eq!(run.run().locks[&slot("x")], no(3));
}

#[test]
fn an_rpc_that_locks_is_refused_while_a_step_has_the_lock() {
    let run = forked(&[locked_to("a", &["x"])]);
    let locks = RpcReport { locks: vec![slot("x")], ..rpc(set("x", 1), []) };
    let run = run.when(Command::ApplyRpc(locks.clone())).refused(&Rejection::Locked { slot: slot("x") });
    let run = run.when(Command::ApplyRpc(rpc(set("x", 1), []))).fine();
    let run = run
        .when(complete(2, 1, go([to_wait("b")])))
        .then([super::words::completed(2), followed(2, 3, to_wait("b"))]);
    let run = run.when(Command::ApplyRpc(locks)).fine();
    assert!(run.run().attributes.contains_key(&slot("x")));
}

#[test]
fn a_closed_run_holds_no_locks() {
    let run = forked(&[locked_to("a", &["x"]), locked_to("b", &["x"])]).when(stop(Stop::Terminate)).fine();
    assert!(run.run().locks.is_empty() && run.run().blocked.is_empty());
}
