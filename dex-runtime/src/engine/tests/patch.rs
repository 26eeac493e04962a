//! What a movement changes about its step's options: the execution keeps it, and nobody else gets it.

use std::sync::Arc;

use super::words::{
    charging, complete, completed, fire, followed, give_up, go, if_empty, name, one, patch, patched_to,
    publish, recover_by, recovering, report, resume, rpc, scheduled, scheduled_by, start, start_wait,
    started, step_failed, to, to_wait,
};
use super::{Given, given};
use crate::engine::{Command, Event, Exhausted, Movement, Source, Staged, StepPatch};

/// What the handler of an execution is called with.
#[track_caller]
fn patch_of(run: &Given, execution: u64) -> Option<Arc<StepPatch>> {
    run.task(execution).patch
}

#[test]
fn a_decision_gives_each_movement_its_own_patch() {
    let decision = go([patched_to("ship", 3), to("ship"), patched_to("bill", 1)]);
    let run = given(charging()).when(complete(1, 1, decision)).then([
        completed(1),
        followed(1, 2, patched_to("ship", 3)),
        followed(1, 3, to("ship")),
        followed(1, 4, patched_to("bill", 1)),
    ]);
    assert_eq!((patch_of(&run, 2), patch_of(&run, 3)), (Some(patch(3)), None));
    assert_eq!(patch_of(&run, 4), Some(patch(1)));
}

#[test]
fn starts_rpcs_and_conditional_decisions_have_patches_too() {
    let run = given([]).when(start(Some(patched_to("charge", 3)), Staged::default())).fine();
    assert_eq!(patch_of(&run, 1), Some(patch(3)));
    let report = rpc(Staged::default(), [patched_to("ship", 3)]);
    let run = run.when(Command::ApplyRpc(report)).then([
        Event::RpcApplied { rpc: name("patch") },
        scheduled_by(Source::Rpc(name("patch")), 2, patched_to("ship", 3)),
    ]);
    let decision = if_empty(&["mail"], "done", patched_to("ask", 3));
    let run = run.when(publish("mail", &["hello"])).fine().when(complete(2, 1, decision)).fine();
    assert_eq!(patch_of(&run, 3), Some(patch(3)));
}

#[test]
fn both_methods_and_all_attempts_have_it() {
    let movement = Movement { patch: Some(patch(3)), ..to_wait("ask") };
    let run = given([started(), scheduled(1, movement)]);
    assert_eq!(patch_of(&run, 1), Some(patch(3)));
    let run = run.when(Command::FailAttempt(report(1, 1))).fine().at(2).when(fire(1)).fine();
    assert_eq!(patch_of(&run, 1), Some(patch(3)));
    let run = run.when(start_wait(1, 2, one("a"))).fine().when(publish("a", &["x"])).fine();
    assert_eq!(patch_of(&run, 1), Some(patch(3)));
    let run = run.when(Command::FailAttempt(report(1, 3))).fine().at(4).when(fire(1)).fine();
    assert_eq!(patch_of(&run, 1), Some(patch(3)));
}

#[test]
fn a_step_that_was_parked_still_has_it_when_it_is_resumed() {
    let run = given([started(), scheduled(1, patched_to("charge", 3))]);
    let run = run.when(give_up(1, 1, Exhausted::Park)).fine().when(resume(1)).fine();
    assert_eq!(patch_of(&run, 1), Some(patch(3)));
}

#[test]
fn the_recovery_of_a_patched_step_goes_by_its_own_options() {
    let run = given([started(), scheduled(1, patched_to("charge", 3))])
        .when(give_up(1, 1, recover_by("refund")))
        .then([step_failed(1), recovering(1, "charge", 1, 2, "refund")]);
    assert_eq!(patch_of(&run, 2), None);
}

#[test]
fn a_later_movement_to_the_step_has_nothing_of_it() {
    let run = given([started(), scheduled(1, patched_to("charge", 3))]);
    let run = run.when(complete(1, 1, go([to("charge")]))).fine();
    assert_eq!(patch_of(&run, 2), None);
}
