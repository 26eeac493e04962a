//! What scheduled an execution, as its handler is told.

use super::words::{
    at, cancel, charging, complete, complete_and, fire, give_up, go, leave, name, recover_by, rpc,
    step_report, target, to, to_wait,
};
use super::{Given, given};
use crate::engine::{
    CancelSteps, Command, Exhausted, Source, Staged, Start, StepId, StepReport, TimeoutAction,
};
use crate::ids::ExecutionNo;

#[track_caller]
fn assert_source(run: &Given, execution: u64, source: &Source, id: Option<(&str, u32)>) {
    let task = run.task(execution);
    let id = id.map(|(step, number)| StepId { step: name(step), number });
    assert_eq!((&task.source, task.source_id), (source, id));
}

fn step(no: u64) -> Source {
    Source::Step(ExecutionNo(no))
}

#[test]
fn what_follows_from_a_step_knows_its_name_although_it_has_ended() {
    let run = given(charging());
    assert_source(&run, 1, &Source::Start, None);
    let run = run.when(complete(1, 1, go([to("ship"), to_wait("ship")]))).fine();
    assert_source(&run, 2, &step(1), Some(("charge", 1)));
    assert_source(&run, 3, &step(1), Some(("charge", 1)));
    let run = run.when(complete(2, 1, go([to("mail")]))).fine();
    assert_source(&run, 4, &step(2), Some(("ship", 1)));
}

#[test]
fn a_step_that_ends_others_is_the_source_of_what_follows_and_they_are_not() {
    let run = given(charging()).when(complete(1, 1, go([to("ship"), to("mail")]))).fine();
    let cancels = vec![CancelSteps { step: name("mail"), siblings: false }];
    let report = StepReport { cancels, ..step_report(2, 1, go([to("thank")]), Staged::default()) };
    let run = run.when(Command::CompleteStep(report)).fine();
    assert_source(&run, 4, &step(2), Some(("ship", 1)));
}

#[test]
fn a_recovery_knows_the_name_of_what_failed() {
    let run = given(charging()).when(give_up(1, 1, recover_by("refund"))).fine();
    assert_source(&run, 2, &Source::Recovery(ExecutionNo(1)), Some(("charge", 1)));
}

#[test]
fn what_an_operator_starts_in_place_of_a_parked_step_follows_from_it() {
    let run = given(charging()).when(give_up(1, 1, Exhausted::Park)).fine();
    let run = run.when(leave(1, Some(to("refund")))).fine();
    assert_source(&run, 2, &step(1), Some(("charge", 1)));
}

#[test]
fn an_rpc_the_time_and_a_cancel_have_no_execution() {
    let by_rpc = given(charging()).when(Command::ApplyRpc(rpc(Staged::default(), [to("ship")]))).fine();
    assert_source(&by_rpc, 2, &Source::Rpc(name("patch")), None);

    let timeout = Some((std::time::Duration::from_secs(5), TimeoutAction::Step(target("remind"))));
    let Command::Start(start) = super::words::start(Some(to("charge")), Staged::default()) else {
        unreachable!()
    };
    let by_time =
        given([]).when(Command::Start(Start { timeout, ..start })).fine().at(5).when(fire(0)).fine();
    assert_source(&by_time, 2, &Source::Timeout, None);

    let run = given(charging()).when(complete_and(1, 1, go([to_wait("ship")]), Staged::default())).fine();
    let by_cancel = run.when(cancel(0, Some("clean"))).fine();
    assert_source(&by_cancel, 3, &Source::Cancel, None);
}

#[test]
fn the_start_of_the_first_attempt_is_told_to_all_that_follow_it() {
    let run = given(charging());
    assert_eq!(run.task(1).first_attempt_at, None, "the one that runs is the first");
    let run = run.at(3).when(Command::FailAttempt(super::words::report(1, 1))).fine();
    let run = run.at(9).when(fire(1)).fine();
    assert_eq!(run.task(1).first_attempt_at, Some(at(0)), "as the report said");
}
