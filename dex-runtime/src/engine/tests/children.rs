//! Children: asking for them, their starts and ends, and what the end of a parent does to them.

use std::collections::BTreeMap;

use super::words::{
    all, any, at, attempt, complete, identity, name, no, nth, one, publish, scheduled, started, timer,
    to_wait, value, wait_met, wait_started,
};
use super::{Given, When, given};
use crate::engine::{
    CancelPlan, ChildNo, ChildRequest, ChildStart, Closing, Command, Condition, Decision, Effect, Errand,
    Event, Limits, Matched, Parent, ParentEnd, Rejection, RunIdentity, Staged, Status, Stop, WaitReport,
    outstanding,
};
use crate::ids::{FlowId, RunId};

const RUN: RunId = RunId::from_bytes([5; 16]);

fn child(index: u32) -> ChildNo {
    ChildNo { execution: no(1), index }
}

fn leaf(index: u32) -> Condition {
    Condition::Child { index }
}

fn request(on_parent_end: ParentEnd) -> ChildRequest {
    let start = ChildStart { input: value("input"), attributes: Vec::new(), timeout: None };
    ChildRequest { flow: name("parcel"), start, on_parent_end }
}

fn requested(index: u32, on_parent_end: ParentEnd) -> Event {
    let flow_id = FlowId::new(format!("{}/ask-1/{index}", identity().run_id)).unwrap();
    Event::ChildRequested { child: child(index), flow_id, request: Box::new(request(on_parent_end)) }
}

fn child_started(index: u32) -> Event {
    Event::ChildStarted { child: child(index), run: RUN }
}

fn child_ended(index: u32, result: &str) -> Event {
    Event::ChildEnded { child: child(index), result: value(result) }
}

fn end(index: u32, result: &str) -> Command {
    Command::EndChild { child: child(index), result: value(result) }
}

fn note_started(indexes: &[u32]) -> Command {
    Command::NoteStarted(indexes.iter().map(|index| (child(*index), RUN)).collect::<BTreeMap<_, _>>())
}

fn terminate() -> Command {
    Command::Stop { stop: Stop::Terminate, reason: None, plan: CancelPlan::default() }
}

fn asked() -> Given {
    given([started(), scheduled(1, to_wait("ask"))])
}

fn ask(run: Given, condition: Condition, children: usize) -> When {
    let children = vec![request(ParentEnd::Leave); children];
    run.when(Command::StartWait(WaitReport {
        attempt: attempt(1, 1),
        condition,
        children,
        staged: Staged::default(),
    }))
}

/// A run that waits for children with these policies.
fn waits(condition: Condition, policies: &[ParentEnd]) -> Given {
    let requested = (0..).zip(policies).map(|(index, policy)| requested(index, *policy));
    let begun = [started(), scheduled(1, to_wait("ask"))].into_iter().chain(requested);
    given(begun.chain([wait_started(1, condition)]))
}

fn two() -> Given {
    waits(all([leaf(0), leaf(1)]), &[ParentEnd::Leave, ParentEnd::Leave])
}

/// The ends of children are no messages.
fn both() -> Matched {
    Matched::All(vec![Matched::Plain, Matched::Plain])
}

#[test]
fn a_wait_asks_for_its_children_and_the_run_is_active_until_they_are_started() {
    let run = ask(asked(), all([leaf(0), leaf(1)]), 2);
    assert_eq!(run.result.as_ref().unwrap().effects, [Effect::RunErrands]);
    assert_eq!(run.result.as_ref().unwrap().active, None, "it was active before");
    let run = run.then([
        requested(0, ParentEnd::Leave),
        requested(1, ParentEnd::Leave),
        wait_started(1, all([leaf(0), leaf(1)])),
    ]);
    assert!(run.run().is_active());
    assert_eq!(outstanding(run.run()), [Effect::RunErrands]);
    assert_eq!(run.run().errands(9, |_| true).len(), 2);
    assert_eq!(run.run().errands(1, |_| true).len(), 1);
    assert_eq!(run.run().errands(9, |_| false), [], "a flow that this build does not have");

    let run = run.when(note_started(&[0, 1])).then([child_started(0), child_started(1)]);
    assert!(!run.run().is_active());
    assert_eq!(outstanding(run.run()), []);
    // Noted again after a crash.
    run.when(note_started(&[0, 1])).then([]);
}

#[test]
fn a_wait_that_does_not_name_what_comes_with_it_is_refused() {
    let unlike = |named, given| Rejection::ChildrenUnlike { named, given };
    ask(asked(), one("a"), 1).refused(&unlike(0, 1));
    ask(asked(), leaf(0), 0).refused(&unlike(1, 0));
    ask(asked(), any([leaf(1), leaf(0)]), 2).refused(&unlike(2, 2));
}

#[test]
fn a_run_has_at_most_so_many_children() {
    let limits = Limits { children_max: 1, ..Limits::DEFAULT };
    ask(asked().limited(limits), leaf(0), 1).fine();
    ask(asked().limited(limits), any([leaf(0), leaf(1)]), 2)
        .refused(&Rejection::TooManyChildren { size: 2, max: 1 });
}

#[test]
fn the_step_is_given_the_ends_in_the_order_written() {
    let run = two().when(end(1, "second")).then([child_ended(1, "second")]);
    let run = run.when(end(0, "first")).then([child_ended(0, "first"), wait_met(1, both())]);
    assert_eq!(run.task(1).outcome, Some(value(["first", "second"])));
    assert!(run.run().children.all.is_empty(), "nothing is kept twice");
}

#[test]
fn an_end_counts_once_and_may_come_before_the_note_of_the_start() {
    let run = two().when(end(0, "first")).then([child_ended(0, "first")]);
    let run = run.when(end(0, "again")).then([]);
    let run = run.when(note_started(&[0, 1])).then([child_started(1)]);
    let run = run.when(end(1, "second")).then([child_ended(1, "second"), wait_met(1, both())]);
    run.when(end(1, "again")).then([]);
}

#[test]
fn a_child_that_loses_goes_on_and_its_end_is_noted() {
    let run = waits(any([one("a"), leaf(0)]), &[ParentEnd::Leave]);
    let run = run.when(publish("a", &["x"])).fine();
    assert_eq!(run.task(1).outcome, Some(value(BTreeMap::from([("0", "x")]))));
    assert_eq!(run.run().children.all.len(), 1);
    let run = run.when(end(0, "late")).then([child_ended(0, "late")]);
    assert!(run.run().children.all.is_empty());
}

#[test]
fn one_of_several_children_is_enough_for_any() {
    let run = waits(any([leaf(0), leaf(1), timer(9)]), &[ParentEnd::Leave, ParentEnd::Leave]);
    let run = run.when(end(1, "b")).then([child_ended(1, "b"), wait_met(1, nth(1, Matched::Plain))]);
    assert_eq!(run.task(1).outcome, Some(value(BTreeMap::from([("1", "b")]))));
}

#[test]
fn a_paused_run_hears_of_its_child_and_calls_nobody() {
    let run = waits(leaf(0), &[ParentEnd::Leave]).when(note_started(&[0])).fine();
    let run = run.when(Command::Pause).fine();
    let run = run.when(end(0, "done")).does([]);
    assert!(!run.run().is_active());
    let run = run.when(Command::Resume).fine();
    assert_eq!(run.task(1).outcome, Some(value("done")));
}

#[test]
fn the_end_of_a_parent_stops_the_children_that_say_so() {
    let policies = [ParentEnd::Leave, ParentEnd::Cancel, ParentEnd::Terminate];
    let run = waits(all([leaf(0), leaf(1), leaf(2)]), &policies).when(note_started(&[0, 1, 2])).fine();
    let run = run.when(terminate()).does([Effect::Close { status: Status::Terminated }, Effect::RunErrands]);
    let stops: Vec<_> = run
        .run()
        .errands(9, |_| true)
        .into_iter()
        .map(|errand| match errand {
            Errand::Stop { child, terminate, .. } => (child.index, terminate),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(stops, [(1, false), (2, true)]);
    let stopped = |index| Event::ChildStopped { child: child(index) };
    let all = (0..3).map(child).collect();
    let run = run.when(Command::NoteStopped(all)).then([stopped(1), stopped(2)]);
    assert!(!run.run().is_active());
    // The one that is left stays on record.
    assert_eq!(run.run().children.all.keys().copied().collect::<Vec<_>>(), [child(0)]);
    run.when(end(0, "later")).refused(&Rejection::Closed { status: Status::Terminated });
}

#[test]
fn a_child_that_was_asked_for_is_started_after_its_parent_has_ended_unless_it_is_to_be_stopped() {
    let run = waits(all([leaf(0), leaf(1)]), &[ParentEnd::Leave, ParentEnd::Cancel]);
    let run = run.when(terminate()).fine();
    let errands = run.run().errands(9, |_| true);
    let [Errand::Start { child: first, .. }, Errand::Stop { child: second, .. }] = errands.as_slice() else {
        panic!("{errands:?}")
    };
    assert_eq!((*first, *second), (child(0), child(1)));
    // It may turn out that it cannot be started.
    run.clone().when(end(0, "never")).then([child_ended(0, "never")]);
    let run = run.when(note_started(&[0])).then([child_started(0)]);
    let run = run.when(Command::NoteStopped([child(1)].into())).fine();
    assert!(!run.run().is_active());
}

#[test]
fn a_child_is_active_after_its_end_until_its_parent_knows() {
    let parent = Parent { run_id: RUN, flow_id: FlowId::new("order-0").unwrap(), child: child(0) };
    let identity = RunIdentity { parent: Some(parent.clone()), ..identity() };
    let begun = Event::RunStarted { identity, timeout: None };
    let run = given([begun, scheduled(1, super::words::to("charge"))]);
    run.clone().when(Command::NoteTold).then([]);
    let run = run
        .when(complete(1, 1, Decision::Complete(value(7))))
        .does([Effect::Close { status: Status::Completed }, Effect::RunErrands]);
    assert!(run.run().is_active());
    let errands = run.run().errands(9, |_| true);
    let [Errand::Tell { parent: told, end }] = errands.as_slice() else { panic!("{errands:?}") };
    assert_eq!((told, &end.closed.closing), (&parent, &Closing::Completed));
    assert_eq!(end.outputs[0].value, value(7));
    let run = run.when(Command::NoteTold).then([Event::ParentTold]);
    assert!(!run.run().is_active());
    run.when(Command::NoteTold).then([]);
}

#[test]
fn a_wait_of_a_run_that_is_being_cancelled_starts_no_children() {
    let cancel = CancelPlan { grace: std::time::Duration::from_secs(9), cleanup: None };
    let run = asked().when(Command::Stop { stop: Stop::Cancel, reason: None, plan: cancel }).fine();
    let run = ask(run, leaf(0), 1).fine();
    assert!(run.run().children.all.is_empty());
    assert_eq!(run.run().status(), Status::Canceled);
    assert_eq!(run.run().closed.as_ref().unwrap().at, at(0));
}
