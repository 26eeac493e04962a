//! What is true of every run after every transition.

use std::collections::{BTreeMap, BTreeSet};

use super::children::{ChildNo, ChildStage};
use super::state::{Phase, RunState};
use super::waiters::Need;
use crate::ids::{ExecutionNo, Slot};

/// A statement about a run that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a broken invariant: {0}")]
pub struct Violation(pub String);

/// Checks all statements.
///
/// # Errors
///
/// The first one that does not hold.
pub fn check(state: &RunState) -> Result<(), Violation> {
    closed_runs_do_nothing(state)?;
    ready_ones_are_counted(state)?;
    messages_are_in_order(state)?;
    reservations_are_counted(state)?;
    waits_are_registered(state)?;
    outcomes_belong_to_steps(state)?;
    waits_that_are_met_go_on(state)?;
    executions_are_numbered(state)?;
    locks_belong_to_running_steps(state)?;
    who_waits_for_locks_is_noted(state)?;
    ends_come_to_an_end(state)?;
    children_belong_to_waits(state)?;
    errands_are_counted(state)?;
    bytes_are_counted(state)
}

fn require(holds: bool, text: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation(text())) }
}

fn closed_runs_do_nothing(state: &RunState) -> Result<(), Violation> {
    require(state.closed.is_none() || state.executions.is_empty(), || {
        format!("a closed run has {} open executions", state.executions.len())
    })?;
    let over = state.completion_requested && state.executions.is_empty();
    require(!over || state.closed.is_some(), || {
        "completion was asked for, nothing is left, it is open".into()
    })
}

fn ready_ones_are_counted(state: &RunState) -> Result<(), Violation> {
    let ready = state.executions.values().filter(|e| matches!(e.phase, Phase::Ready(_))).count();
    require(ready == state.ready, || format!("{ready} are ready, {} are counted", state.ready))
}

fn messages_are_in_order(state: &RunState) -> Result<(), Violation> {
    for (slot, channel) in &state.channels {
        let last = channel.queue.last().map_or(0, |(number, _)| *number);
        require(last <= channel.published, || format!("channel {slot} is out of order"))?;
    }
    Ok(())
}

fn reservations_are_counted(state: &RunState) -> Result<(), Violation> {
    let reserved = || state.executions.values().filter_map(|e| e.outcome.as_ref()).flat_map(|o| &o.reserved);
    let mut numbers: BTreeMap<&Slot, BTreeSet<u64>> = BTreeMap::new();
    for (slot, message) in reserved() {
        let first = numbers.entry(slot).or_default().insert(message.number);
        require(first, || format!("message {} of channel {slot} is reserved twice", message.number))?;
        let queue = state.channels.get(slot).map(|channel| &channel.queue);
        require(queue.is_some_and(|queue| !queue.contains_key(&message.number)), || {
            format!("message {} of channel {slot} is reserved and queued", message.number)
        })?;
    }
    for (slot, channel) in &state.channels {
        let count = numbers.get(slot).map_or(0, BTreeSet::len);
        require(count == channel.reserved, || {
            format!("channel {slot} has {count} reserved messages, {} are counted", channel.reserved)
        })?;
    }
    Ok(())
}

fn waits_are_registered(state: &RunState) -> Result<(), Violation> {
    let mut expected: BTreeSet<(Slot, Need, ExecutionNo)> = BTreeSet::new();
    for (no, execution) in &state.executions {
        if let Phase::Waiting { condition, .. } = &execution.phase {
            condition.each_need(&mut |slot, need| {
                expected.insert((slot.clone(), need, *no));
            });
        }
    }
    let registered = state
        .channels
        .iter()
        .flat_map(|(slot, channel)| {
            channel.waiting.iter().map(move |(need, no)| (slot.clone(), need.clone(), no))
        })
        .collect();
    require(expected == registered, || format!("waits are {expected:?}, registered are {registered:?}"))
}

fn outcomes_belong_to_steps(state: &RunState) -> Result<(), Violation> {
    let early = state.executions.iter().find(|(_, execution)| {
        let in_step = execution.holds_locks() || execution.phase == Phase::Blocked;
        execution.outcome.is_some() && !in_step
    });
    early.map_or(Ok(()), |(no, _)| {
        Err(Violation(format!("execution {} holds messages before its step", no.0)))
    })
}

fn waits_that_are_met_go_on(state: &RunState) -> Result<(), Violation> {
    let forgotten = state.executions.iter().find(|&(&no, execution)| match &execution.phase {
        Phase::Waiting { condition, fired_until } => {
            let ended = |index| state.children.has_ended(no, index);
            condition.meet(|slot| state.available(slot), ended, *fired_until).is_some()
        }
        _ => false,
    });
    forgotten.map_or(Ok(()), |(no, _)| Err(Violation(format!("execution {} waits for what is there", no.0))))
}

fn locks_belong_to_running_steps(state: &RunState) -> Result<(), Violation> {
    let mut expected = BTreeMap::new();
    for (no, execution) in &state.executions {
        for slot in execution.locks.iter().filter(|_| execution.holds_locks()) {
            let other = expected.insert(slot.clone(), *no).filter(|other| other != no);
            require(other.is_none(), || format!("attribute {slot} is locked twice"))?;
        }
    }
    require(expected == state.locks, || {
        format!("attributes {expected:?} are locked, noted are {:?}", state.locks)
    })
}

fn who_waits_for_locks_is_noted(state: &RunState) -> Result<(), Violation> {
    let mut expected: BTreeMap<Slot, BTreeSet<ExecutionNo>> = BTreeMap::new();
    for (no, execution) in state.executions.iter().filter(|(_, execution)| execution.phase == Phase::Blocked)
    {
        for slot in &execution.locks {
            expected.entry(slot.clone()).or_default().insert(*no);
        }
        require(!state.may_lock(*no, &execution.locks), || {
            format!("execution {} waits for free locks", no.0)
        })?;
    }
    require(expected == state.blocked, || {
        format!("{expected:?} are waited for, noted are {:?}", state.blocked)
    })
}

fn ends_come_to_an_end(state: &RunState) -> Result<(), Violation> {
    let going = state.closed.is_none();
    require(going || (state.timeout.is_none() && state.canceling.is_none() && !state.paused), || {
        "a closed run is paused, cancelled or timed".into()
    })?;
    let Some(canceling) = &state.canceling else { return Ok(()) };
    require(!state.paused, || "a paused run is being cancelled".into())?;
    require(!state.executions.is_empty(), || "nothing is left of a run that is being cancelled".into())?;
    require(canceling.cleaning != canceling.until.is_some(), || {
        "nothing ends the cancelling of the run".into()
    })
}

fn children_belong_to_waits(state: &RunState) -> Result<(), Violation> {
    let mut named = BTreeSet::new();
    let mut needed: BTreeMap<ExecutionNo, BTreeSet<u32>> = BTreeMap::new();
    for (no, execution) in &state.executions {
        if let Phase::Waiting { condition, .. } = &execution.phase {
            condition.each_child(&mut |index| {
                named.insert(ChildNo { execution: *no, index });
            });
            condition.each_needed_child(&mut |index| {
                if !state.children.has_ended(*no, index) {
                    needed.entry(*no).or_default().insert(index);
                }
            });
        }
    }
    for (no, child) in &state.children.all {
        let ended = matches!(child.stage, ChildStage::Ended(_));
        require(!ended || named.contains(no), || format!("nobody waits for the end of `{}`", child.flow_id))?;
    }
    let lost = named.iter().find(|no| !state.children.all.contains_key(no));
    require(lost.is_none(), || format!("a child that is waited for is not known: {lost:?}"))?;
    require(needed == state.children.awaited, || {
        format!("children {needed:?} are needed, noted are {:?}", state.children.awaited)
    })
}

fn errands_are_counted(state: &RunState) -> Result<(), Violation> {
    let tell = usize::from(state.closed.is_some() && state.identity.parent.is_some() && !state.parent_told);
    let errands = state.errands(usize::MAX, |_| true).len();
    let counted = state.children.errands + tell;
    require(errands == counted, || format!("there are {errands} errands, {counted} are counted"))?;
    require(state.closed.is_some() || !state.parent_told, || "the parent of an open run was told".into())
}

fn bytes_are_counted(state: &RunState) -> Result<(), Violation> {
    let bytes = state.count_bytes();
    require(bytes == state.bytes, || format!("the run takes {bytes} bytes, {} are counted", state.bytes))
}

fn executions_are_numbered(state: &RunState) -> Result<(), Violation> {
    let last = state.executions.last_key_value().map_or(0, |(no, _)| no.0);
    require(last <= state.scheduled, || format!("execution {last} was never scheduled"))?;
    let counted: u64 = state.step_counts.values().map(|count| u64::from(*count)).sum();
    require(counted == state.scheduled, || {
        format!("{} executions were scheduled, {counted} are counted by step", state.scheduled)
    })
}
