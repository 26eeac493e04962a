//! What follows from the state alone: waits that are met now, and the completion of the run.

use std::collections::BTreeSet;

use super::close;
use super::event::{Closing, Event};
use super::state::{ChannelState, Phase, RunState};
use super::waiters::Need;
use crate::ids::{ExecutionNo, Slot};
use crate::time::Timestamp;

/// Executions whose wait has to be looked at, since something they may wait for has changed.
///
/// In the order of scheduling: who came first is served first.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// With the channel and the need that it was noted for, if one was: those that have the same are looked at one
    /// after the other, as long as that is there. So a message costs as much as it has takers, not waiters.
    executions: BTreeSet<(ExecutionNo, Option<(Slot, Need)>)>,
    /// Channels that got messages. Who waits is noted once all of them are there.
    filled: BTreeSet<Slot>,
    /// Attributes that somebody may have for itself now.
    freed: BTreeSet<Slot>,
    /// Channels of maps that may be needed no more.
    emptied: BTreeSet<Slot>,
}

impl Agenda {
    /// Notes whom `event` may concern. To be called before the event is folded in.
    pub(super) fn note(&mut self, event: &Event, before: &RunState) {
        match event {
            Event::MessagePublished { slot, .. } => self.note_channel(slot, before),
            Event::WaitStarted { execution, .. } | Event::TimerFired { execution, .. } => {
                self.executions.insert((*execution, None));
            }
            Event::ChildEnded { child, .. } if before.children.may_end_wait(*child) => {
                self.executions.insert((child.execution, None));
            }
            Event::MessageDeleted { slot, .. } => self.note_emptied(slot),
            Event::WaitMet { execution, .. } => self.note_left(*execution, before),
            Event::StepCompleted { execution } => {
                self.note_locks(*execution, before);
                self.note_left(*execution, before);
            }
            Event::StepFailed { execution, .. }
            | Event::StepCanceled { execution }
            | Event::StepSkipped { execution } => {
                self.note_locks(*execution, before);
                self.note_left(*execution, before);
                let ended = before.executions.get(execution).and_then(|ended| ended.outcome.as_ref());
                for (slot, _) in ended.into_iter().flat_map(|outcome| &outcome.reserved) {
                    self.note_channel(slot, before);
                }
            }
            _ => {}
        }
    }

    /// Notes what an execution that ends held or waited for.
    fn note_locks(&mut self, ended: ExecutionNo, before: &RunState) {
        if !before.blocked.is_empty() {
            let locks = before.executions.get(&ended).map(|ended| &ended.locks);
            self.freed.extend(locks.into_iter().flatten().cloned());
        }
    }

    /// Notes the channels that an execution waits for no more, or whose messages it gives out of its hands.
    fn note_left(&mut self, execution: ExecutionNo, before: &RunState) {
        let Some(execution) = before.executions.get(&execution) else { return };
        if let Phase::Waiting { condition, .. } = &execution.phase {
            condition.each_channel(&mut |slot| self.note_emptied(slot));
        }
        let mut last = None;
        for (slot, _) in execution.outcome.iter().flat_map(|outcome| &outcome.reserved) {
            if last != Some(slot) {
                self.note_emptied(slot);
                last = Some(slot);
            }
        }
    }

    fn note_emptied(&mut self, slot: &Slot) {
        // There are only so many others.
        if slot.key.is_some() {
            self.emptied.insert(slot.clone());
        }
    }

    fn note_channel(&mut self, slot: &Slot, before: &RunState) {
        if before.channels.get(slot).is_some_and(|channel| !channel.waiting.is_empty()) {
            self.filled.insert(slot.clone());
        }
    }

    /// The next execution whose wait may be met.
    fn pop(&mut self, state: &RunState) -> Option<ExecutionNo> {
        while let Some(slot) = self.filled.pop_first() {
            self.note_firsts(&slot, state);
        }
        while let Some((execution, noted_for)) = self.executions.pop_first() {
            let Some((slot, need)) = noted_for else { return Some(execution) };
            // Those before may have taken it. What fills the channel again notes all of them again.
            if need.is_there(&slot, |slot| state.available(slot)) {
                self.note_after(execution, slot, need, state);
                return Some(execution);
            }
        }
        None
    }

    /// Notes for a channel who waits longest of those with each need.
    fn note_firsts(&mut self, slot: &Slot, state: &RunState) {
        let Some(channel) = state.channels.get(slot) else { return };
        let firsts = channel.waiting.firsts(channel.queue.len());
        let there = firsts.filter(|(need, _)| need.is_there(slot, |slot| state.available(slot)));
        self.executions.extend(there.map(|(need, first)| (first, Some((slot.clone(), need.clone())))));
    }

    /// Notes who waits next after `execution` with the same need.
    fn note_after(&mut self, execution: ExecutionNo, slot: Slot, need: Need, state: &RunState) {
        let next = state.channels.get(&slot).and_then(|channel| channel.waiting.after(execution, &need));
        self.executions.extend(next.map(|next| (next, Some((slot, need)))));
    }

    /// The next event that follows by itself, if there is one.
    pub(super) fn next(&mut self, state: &RunState, now: Timestamp) -> Option<Event> {
        if state.closed.is_some() {
            return None;
        }
        while let Some(execution) = self.pop(state) {
            if let Some(met) = met(state, execution, now) {
                return Some(met);
            }
        }
        while let Some(slot) = self.freed.pop_first() {
            if let Some(execution) = state.unblocked(&slot) {
                return Some(Event::LocksTaken { execution });
            }
        }
        let ended = match &state.canceling {
            Some(_) => close::wind_up(state),
            None if state.completion_requested && state.executions.is_empty() => {
                Some(Event::RunClosed { closing: Closing::Completed })
            }
            None => None,
        };
        ended.or_else(|| self.forgotten(state))
    }

    fn forgotten(&mut self, state: &RunState) -> Option<Event> {
        let unneeded = |slot: &Slot| state.channels.get(slot).is_some_and(ChannelState::is_unneeded);
        let slot = std::iter::from_fn(|| self.emptied.pop_first()).find(unneeded)?;
        Some(Event::ChannelForgotten { slot })
    }
}

fn met(state: &RunState, execution: ExecutionNo, now: Timestamp) -> Option<Event> {
    let Phase::Waiting { condition, fired_until } = &state.executions.get(&execution)?.phase else {
        return None;
    };
    // A timer whose instant has come counts even if nobody has fired it yet, or a message of the same
    // moment would win against an alternative that was written before it.
    let ended = |index| state.children.has_ended(execution, index);
    let matched = condition.meet(|slot| state.available(slot), ended, now.max(*fired_until))?;
    Some(Event::WaitMet { execution, matched })
}
