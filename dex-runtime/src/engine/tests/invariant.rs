//! That a broken run is told from a sound one.

use super::words::{
    charging, closed, one, publish, published, scheduled, slot, started, to, to_wait, wait_started, waiting,
};
use super::{Given, given};
use crate::engine::{Closing, Method, Need, Phase, RunState, SharedMap, invariant};
use crate::ids::ExecutionNo;

/// What is said about `run` after `damage`.
fn said(run: &Given, damage: impl FnOnce(&mut RunState)) -> String {
    let mut state = run.run().clone();
    invariant::check(&state).unwrap();
    damage(&mut state);
    invariant::check(&state).unwrap_err().to_string()
}

/// A run whose step `ask` holds a message of channel `a`, where another one is queued.
fn holding() -> Given {
    given(waiting(one("a"))).when(publish("a", &["1", "2"])).fine()
}

#[test]
fn a_closed_run_with_open_executions_is_broken() {
    let open = given(charging()).run().executions.clone();
    let run = given([started(), closed(Closing::Completed)]);
    assert!(said(&run, |run| run.executions = open).contains("closed run has 1 open"));
}

#[test]
fn a_run_that_forgot_to_complete_is_broken() {
    assert!(said(&given([started()]), |run| run.completion_requested = true).contains("it is open"));
}

#[test]
fn a_wrong_count_is_broken() {
    let run = given(charging());
    assert!(said(&run, |run| run.ready = 0).contains("1 are ready, 0 are counted"));
    assert!(said(&run, |run| run.scheduled = 2).contains("2 executions were scheduled, 1 are counted"));
    assert!(said(&run, |run| run.scheduled = 0).contains("execution 1 was never scheduled"));
}

#[test]
fn a_queue_out_of_order_is_broken() {
    let run = given([started(), published("a", "1"), published("a", "2")]);
    let unknown = said(&run, |run| run.channels.get_mut(&slot("a")).unwrap().published = 1);
    assert!(unknown.contains("channel a is out of order"), "{unknown}");
}

#[test]
fn a_message_in_two_places_is_broken() {
    let run = holding();
    let both = said(&run, |run| {
        let (_, message) = run.executions[&ExecutionNo(1)].outcome.as_ref().unwrap().reserved[0].clone();
        run.channels.get_mut(&slot("a")).unwrap().queue.insert(message.number, message.value);
    });
    assert!(both.contains("message 1 of channel a is reserved and queued"), "{both}");
    let twice = said(&run, |run| {
        let outcome = run.executions.get_mut(&ExecutionNo(1)).unwrap().outcome.as_mut().unwrap();
        outcome.reserved.push(outcome.reserved[0].clone());
    });
    assert!(twice.contains("message 1 of channel a is reserved twice"), "{twice}");
    let lost = said(&run, |run| run.channels.get_mut(&slot("a")).unwrap().reserved = 0);
    assert!(lost.contains("channel a has 1 reserved messages, 0 are counted"), "{lost}");
}

#[test]
fn a_wait_that_no_channel_knows_is_broken() {
    let lost = said(&given(waiting(one("a"))), |run| run.channels = SharedMap::new());
    assert!(lost.contains("registered are {}"), "{lost}");
    let stray = said(&given(charging()), |run| {
        run.channels.get_or_default(&slot("a")).waiting.insert(ExecutionNo(1), Need::default());
    });
    assert!(stray.contains("waits are {}"), "{stray}");
    let otherwise = said(&given(waiting(one("a"))), |run| {
        let waiting = &mut run.channels.get_mut(&slot("a")).unwrap().waiting;
        waiting.clear();
        waiting.insert(ExecutionNo(1), Need::default());
    });
    assert!(otherwise.contains("least: 1") && otherwise.contains("least: 0"), "{otherwise}");
}

#[test]
fn a_wait_that_is_met_and_stands_is_broken() {
    let events =
        [started(), scheduled(1, to_wait("ask")), scheduled(2, to("charge")), wait_started(1, one("a"))];
    let run = given(events);
    let queued = given([started(), published("a", "1")]).run().channels[&slot("a")].clone();
    let stands = said(&run, |run| {
        let channel = run.channels.get_mut(&slot("a")).unwrap();
        (channel.queue, channel.published) = (queued.queue, 1);
    });
    assert!(stands.contains("execution 1 waits for what is there"), "{stands}");
}

#[test]
fn messages_held_before_the_step_are_broken() {
    let early = said(&holding(), |run| {
        run.executions.get_mut(&ExecutionNo(1)).unwrap().phase = Phase::Ready(Method::WaitFor);
    });
    assert!(early.contains("execution 1 holds messages before its step"), "{early}");
}

#[test]
fn a_view_that_is_alive_keeps_what_it_saw() {
    let run = given(charging());
    let view = run.run().attributes.clone();
    let run = run.when(super::words::complete_and(
        1,
        1,
        crate::engine::Decision::DeadEnd,
        super::words::set("total", 1),
    ));
    assert_eq!((view.len(), run.fine().run().attributes.len()), (0, 1));
}
