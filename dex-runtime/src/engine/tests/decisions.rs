//! What comes after a step.

use super::words::{
    charging, closed, complete, complete_and, complete_with, completed, followed, go, if_empty, name, one,
    output, publish, published, rpc, scheduled, scheduled_by, send, slot, started, timer, to, to_wait, value,
    wait_started,
};
use super::{Given, given};
use crate::engine::{Closing, Command, Decision, Effect, Event, Rejection, Source, Staged, Status};
use crate::value::Payload;

/// A run with two steps that run, `charge` and `ship`.
fn two() -> Given {
    given([started(), scheduled(1, to("charge")), scheduled(2, to("ship"))])
}

fn done() -> Event {
    closed(Closing::Completed)
}

#[test]
fn a_decision_of_several_parts_starts_all_of_them_in_order() {
    given(charging()).when(complete(1, 1, go([to("a"), to_wait("b"), to("a")]))).then([
        completed(1),
        followed(1, 2, to("a")),
        followed(1, 3, to_wait("b")),
        followed(1, 4, to("a")),
    ]);
}

#[test]
fn all_parts_of_a_decision_are_handed_out_in_order() {
    let run = given(charging());
    let when = run.when(complete(1, 1, go([to("a"), to("b")])));
    let tasks = [when.after.task(2), when.after.task(3)];
    when.does(tasks.map(|task| Effect::Dispatch(Box::new(task))));
}

#[test]
fn a_decision_without_a_next_step_is_refused() {
    given(charging()).when(complete(1, 1, go([]))).refused(&Rejection::NoNextStep);
}

#[test]
fn the_last_step_completes_the_run_with_its_output() {
    let run = given(charging()).when(complete(1, 1, complete_with("paid"))).then([
        completed(1),
        output("charge", 1, "paid"),
        done(),
    ]);
    assert_eq!(run.run().status(), Status::Completed);
    assert_eq!(run.run().outputs[0].value, value("paid"));
}

#[test]
fn a_unit_output_is_an_output() {
    let run = given(charging()).when(complete(1, 1, Decision::Complete(Payload::NULL))).then([
        completed(1),
        output("charge", 1, ()),
        done(),
    ]);
    assert_eq!(run.run().outputs.len(), 1);
}

#[test]
fn a_graceful_completion_waits_for_the_other_steps() {
    two()
        .when(complete(1, 1, complete_with("paid")))
        .then([completed(1), output("charge", 1, "paid")])
        .when(complete(2, 1, complete_with("shipped")))
        .then([completed(2), output("ship", 1, "shipped"), done()]);
}

#[test]
fn the_wish_to_complete_is_kept_until_the_last_branch_ends() {
    let run = two()
        .when(complete(1, 1, complete_with("paid")))
        .fine()
        .when(complete(2, 1, go([to("pack")])))
        .then([completed(2), followed(2, 3, to("pack"))]);
    run.when(complete(3, 1, Decision::DeadEnd)).then([completed(3), done()]);
}

#[test]
fn a_graceful_completion_waits_for_steps_that_wait() {
    let events =
        [started(), scheduled(1, to("charge")), scheduled(2, to_wait("ask")), wait_started(2, one("a"))];
    let run = given(events).when(complete(1, 1, complete_with("paid"))).fine();
    assert_eq!(run.run().status(), Status::Running);
}

#[test]
fn a_step_that_an_rpc_adds_keeps_a_completing_run_open() {
    let run = two().when(complete(1, 1, complete_with("paid"))).fine();
    let run = run.when(Command::ApplyRpc(rpc(Staged::default(), [to("pack")]))).then([
        Event::RpcApplied { rpc: name("patch") },
        scheduled_by(Source::Rpc(name("patch")), 3, to("pack")),
    ]);
    let run = run.when(complete(2, 1, Decision::DeadEnd)).then([completed(2)]);
    run.when(complete(3, 1, Decision::DeadEnd)).then([completed(3), done()]);
}

#[test]
fn completing_now_cancels_the_rest_and_keeps_the_outputs() {
    let run = two()
        .when(complete(1, 1, complete_with("paid")))
        .fine()
        .when(complete(2, 1, Decision::CompleteNow(value("enough"))))
        .then([completed(2), output("ship", 1, "enough"), done()]);
    let outputs: Vec<_> = run.run().outputs.iter().map(|output| output.value.clone()).collect();
    assert_eq!(outputs, [value("paid"), value("enough")]);
    let run = two().when(complete(2, 1, Decision::CompleteNow(value("enough")))).fine();
    assert!(run.run().executions.is_empty());
}

#[test]
fn closing_calls_off_everything_and_its_timers() {
    let run = given([
        started(),
        scheduled(1, to("charge")),
        scheduled(2, to_wait("ask")),
        wait_started(2, timer(10)),
    ]);
    let when = run.when(complete(1, 1, Decision::CompleteNow(value(1))));
    let done = when.result.clone().unwrap();
    assert_eq!(done.timers_cleared, [(super::at(10), super::words::no(2))]);
    assert_eq!(done.active, Some(false));
    when.does([Effect::Close { status: Status::Completed }]);
}

#[test]
fn a_failing_decision_fails_the_run_and_keeps_the_outputs() {
    let reason = "no stock".to_owned();
    let run = two()
        .when(complete(1, 1, complete_with("paid")))
        .fine()
        .when(complete(2, 1, Decision::Fail { reason: reason.clone() }))
        .then([completed(2), closed(Closing::Failed { reason })]);
    assert_eq!(run.run().status(), Status::Failed);
    assert_eq!(run.run().outputs.len(), 1);
}

#[test]
fn a_dead_end_ends_its_branch_only() {
    let run = two().when(complete(1, 1, Decision::DeadEnd)).then([completed(1)]);
    let run = run.when(complete(2, 1, Decision::DeadEnd)).then([completed(2)]);
    assert_eq!(run.run().status(), Status::Running);
    assert!(!run.run().is_active());
}

#[test]
fn a_run_without_steps_is_revived_by_an_rpc() {
    let run = given(charging()).when(complete(1, 1, Decision::DeadEnd)).fine();
    let when = run.when(Command::ApplyRpc(rpc(Staged::default(), [to("pack")])));
    assert_eq!(when.result.clone().unwrap().active, Some(true));
    assert_eq!(when.fine().task(2).input, value("pack"));
}

#[test]
fn complete_if_empty_completes_when_nothing_is_there() {
    given(charging()).when(complete(1, 1, if_empty(&["a", "b"], "idle", to("more")))).then([
        completed(1),
        output("charge", 1, "idle"),
        done(),
    ]);
}

#[test]
fn complete_if_empty_goes_on_when_a_message_is_there() {
    let run = given([started(), scheduled(1, to("charge")), published("b", "x")]);
    run.when(complete(1, 1, if_empty(&["a", "b"], "idle", to("more"))))
        .then([completed(1), followed(1, 2, to("more"))]);
}

#[test]
fn complete_if_empty_looks_at_its_own_channels_only() {
    let run = given([started(), scheduled(1, to("charge")), published("c", "x")]);
    run.when(complete(1, 1, if_empty(&["a", "b"], "idle", to("more")))).then([
        completed(1),
        output("charge", 1, "idle"),
        done(),
    ]);
}

#[test]
fn complete_if_empty_counts_what_the_step_itself_sends() {
    given(charging())
        .when(complete_and(1, 1, if_empty(&["a"], "idle", to("more")), send(&[("a", "x")])))
        .then([published("a", "x"), completed(1), followed(1, 2, to("more"))]);
}

#[test]
fn complete_if_empty_counts_what_others_have_reserved_but_not_its_own() {
    let asking = [started(), scheduled(1, to_wait("ask")), wait_started(1, one("a"))];
    let alone = given(asking.clone()).when(publish("a", &["x"])).fine();
    alone.when(complete(1, 2, if_empty(&["a"], "idle", to("more")))).then([
        completed(1),
        output("ask", 1, "idle"),
        done(),
    ]);
    let both = [asking.to_vec(), vec![scheduled(2, to_wait("ask")), wait_started(2, one("a"))]].concat();
    let both = given(both).when(publish("a", &["x", "y"])).fine();
    assert_eq!(both.run().available(&slot("a")), 0);
    both.when(complete(1, 2, if_empty(&["a"], "idle", to("more"))))
        .then([completed(1), followed(1, 3, to("more"))]);
}

#[test]
fn the_number_of_messages_that_nobody_consumed_is_kept_in_the_result() {
    let asking =
        [started(), scheduled(1, to_wait("ask")), wait_started(1, one("a")), scheduled(2, to("ship"))];
    let run = given(asking).when(publish("a", &["1", "2", "3"])).fine();
    let run = run.when(publish("b", &["4"])).fine();
    let now = run.clone().when(complete(2, 1, Decision::CompleteNow(value(1)))).fine();
    // The one that step `ask` had reserved is not consumed either.
    assert_eq!(now.run().closed.as_ref().unwrap().unconsumed, 4);
    let own = run.when(complete(1, 2, Decision::CompleteNow(value(1)))).fine();
    assert_eq!(own.run().closed.as_ref().unwrap().unconsumed, 3);
}
