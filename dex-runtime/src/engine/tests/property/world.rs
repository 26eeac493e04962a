//! A run and everything that the shell would keep about it, with the checks that they agree.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::Op;
use super::commands::{self, Draw};
use crate::engine::tests::words::at;
use crate::engine::{
    ChildNo, Command, Effect, Event, Execution, Limits, Phase, Recorded, Refusal, Rejection, RunState,
    Source, Status, Transition, evolve, fold, invariant, outstanding, transition,
};
use crate::ids::{Attempt, ExecutionNo, Slot};
use crate::time::Timestamp;

/// So low that commands run into them.
const LIMITS: Limits =
    Limits { channel_messages_max: 6, executions_max: 4, children_max: 5, state_bytes_max: 5 * 1024 };

type Checked = Result<(), TestCaseError>;

/// A run as the shell sees it: through events and effects.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) state: Option<RunState>,
    now: Timestamp,
    history: Vec<Recorded>,
    /// What the effects so far leave to be done.
    pending: BTreeMap<ExecutionNo, Effect>,
    timers: BTreeSet<(Timestamp, ExecutionNo)>,
    active: bool,
    dispatched: BTreeSet<(ExecutionNo, u32)>,
    accepted: BTreeSet<(ExecutionNo, u32)>,
    channels: BTreeMap<Slot, Ledger>,
    /// Highest number of a channel that is gone.
    numbered: u64,
    /// Whether the shell was told to look at the errands.
    errands: bool,
    /// Whether a command was too much for the run.
    pub(super) was_full: bool,
    /// All children there ever were, and whether they have ended.
    children: BTreeMap<ChildNo, bool>,
}

/// Where the messages of a channel are, by number.
#[derive(Debug, Default)]
struct Ledger {
    /// Messages ever published.
    count: u64,
    /// The last one's number.
    last: u64,
    given: BTreeSet<u64>,
    /// Whether the run has it no more.
    forgotten: bool,
    queue: BTreeSet<u64>,
    reserved: BTreeSet<u64>,
    consumed: BTreeSet<u64>,
}

impl World {
    /// The command that `op` makes of the run as it is; time goes on a little.
    pub(super) fn command(&mut self, op: Op) -> Command {
        let draw = &mut Draw::new(!op.seed);
        // Mostly to where something is due, so that time does something.
        self.now = match self.timers.first() {
            Some((due, _)) if draw.below(3) > 0 => self.now.max(*due),
            _ => self.now.max(at(1)).saturating_add(Duration::from_secs(draw.below(5))),
        };
        commands::command(op, self.state.as_ref(), self.now)
    }

    pub(super) fn carry_out(&mut self, op: Op) -> Checked {
        let command = self.command(op);
        self.apply(&command)
    }

    pub(super) fn apply(&mut self, command: &Command) -> Checked {
        let before = self.state.clone();
        let mut twin = before.clone();
        let result = transition(&mut self.state, command.clone(), self.now, &LIMITS);
        let again = transition(&mut twin, command.clone(), self.now, &LIMITS);
        prop_assert_eq!(&result, &again, "the same command does the same");
        prop_assert_eq!(&self.state, &twin, "and leads to the same run");
        match result {
            Err(Refusal::Broken(broken)) => return Err(TestCaseError::fail(broken.to_string())),
            Err(Refusal::Rejected(rejection)) => {
                prop_assert_eq!(&before, &self.state, "a refusal changes nothing");
                self.was_full |= matches!(rejection, Rejection::StateFull { .. });
            }
            Ok(done) if done.events.is_empty() => {
                prop_assert_eq!(&done, &Transition::default());
                prop_assert_eq!(&before, &self.state, "no event, no change");
            }
            Ok(done) => self.check_transition(command, before.as_ref(), done)?,
        }
        Ok(())
    }

    fn check_transition(
        &mut self,
        command: &Command,
        before: Option<&RunState>,
        done: Transition,
    ) -> Checked {
        let after = self.state.clone().expect("a transition leaves a run");
        let was_closed = before.is_some_and(|run| run.status().is_closed());
        prop_assert!(!was_closed || done.events.iter().all(is_of_family), "a closed run does nothing else");
        if let Err(violation) = invariant::check(&after) {
            return Err(TestCaseError::fail(violation.to_string()));
        }
        prop_assert_eq!(done.active.unwrap_or(self.active), after.is_active());
        prop_assert!(done.active.is_none_or(|active| active != self.active), "only changes are told");
        self.active = after.is_active();
        let cleans = |event: &Event| matches!(event, Event::StepScheduled { source: Source::Cancel, .. });
        let may_grow = !command.brings_values() || done.events.iter().any(cleans);
        let most = before.map_or(0, |run| run.bytes).max(LIMITS.state_bytes_max);
        prop_assert!(may_grow || after.bytes <= most, "nobody makes a full run larger");
        self.check_tokens(command, before, &done)?;
        self.check_timers(&done, &after)?;
        self.check_effects(&done, &after)?;
        self.check_children(&done.events)?;
        self.check_messages(&done.events, before, &after)?;
        self.check_order(&done.events, before)?;
        let sequence = after.version;
        self.history.push(Recorded { sequence, at: self.now, events: done.events });
        prop_assert_eq!(
            fold(None, self.history.clone()),
            Ok(Some(after)),
            "the run is the fold of its events"
        );
        Ok(())
    }

    /// Every attempt is handed out once, and reported once at most.
    fn check_tokens(&mut self, command: &Command, before: Option<&RunState>, done: &Transition) -> Checked {
        if let Some(Attempt { execution, number }) = reported(command) {
            // What is held back may have been handed out by an engine that was killed.
            let held_back = before.is_some_and(|run| run.paused);
            prop_assert!(
                held_back || self.dispatched.contains(&(execution, number)),
                "only what was handed out is reported"
            );
            prop_assert!(self.accepted.insert((execution, number)), "an attempt counts once");
        }
        let resumed = done.events.contains(&Event::RunResumed);
        for effect in &done.effects {
            if let Effect::Dispatch(task) = effect {
                let Attempt { execution, number } = task.attempt;
                let first = self.dispatched.insert((execution, number));
                prop_assert!(first || resumed, "an attempt is handed out once, but for a pause");
            }
        }
        Ok(())
    }

    fn check_timers(&mut self, done: &Transition, after: &RunState) -> Checked {
        for cleared in &done.timers_cleared {
            prop_assert!(self.timers.remove(cleared), "only a timer that is set is cleared");
        }
        for set in &done.timers_set {
            prop_assert!(self.timers.insert(*set), "a timer is set once");
        }
        let due = after.executions.iter().filter_map(|(no, execution)| Some((execution.due()?, *no)));
        let of_run = after.due().map(|at| (at, ExecutionNo(0)));
        prop_assert_eq!(&self.timers, &due.chain(of_run).collect::<BTreeSet<_>>());
        Ok(())
    }

    fn check_effects(&mut self, done: &Transition, after: &RunState) -> Checked {
        done.events.iter().for_each(|event| self.no_longer(event));
        for effect in &done.effects {
            match effect {
                Effect::Dispatch(task) => {
                    prop_assert_eq!(after.status(), Status::Running, "a closed run hands out nothing");
                    self.pending.insert(task.attempt.execution, effect.clone());
                }
                Effect::ArmTimer { execution, .. } => {
                    self.pending.insert(*execution, effect.clone());
                }
                Effect::Tell { execution } => {
                    if let Some(Effect::Dispatch(task)) = self.pending.get_mut(execution) {
                        task.canceling = true;
                    }
                }
                Effect::Revoke { .. } => {}
                Effect::RunErrands => self.errands = true,
                Effect::Close { status } => {
                    prop_assert_eq!(*status, after.status());
                    self.pending.clear();
                }
            }
        }
        self.errands &= after.has_errands();
        let errands = self.errands.then_some(Effect::RunErrands);
        let pending: Vec<_> = errands.into_iter().chain(self.pending.values().cloned()).collect();
        prop_assert_eq!(pending, outstanding(after), "effects add up to what the state alone says");
        Ok(())
    }

    /// Every child is asked for once and ends once at most, under whatever number.
    fn check_children(&mut self, events: &[Event]) -> Checked {
        for event in events {
            match event {
                Event::ChildRequested { child, .. } => {
                    prop_assert_eq!(self.children.insert(*child, false), None, "a child is asked for once");
                }
                Event::ChildStarted { child, .. } | Event::ChildStopped { child } => {
                    prop_assert_eq!(self.children.get(child), Some(&false), "only what goes on is noted");
                }
                Event::ChildEnded { child, .. } => {
                    prop_assert_eq!(self.children.insert(*child, true), Some(false), "a child ends once");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes what `event` makes of what was to be done.
    fn no_longer(&mut self, event: &Event) {
        let run = ExecutionNo(0);
        match event {
            Event::HandedOut { .. } => {}
            Event::CheckpointStored { execution, value } => {
                if let Some(Effect::Dispatch(task)) = self.pending.get_mut(execution) {
                    task.checkpoint = Some(value.clone());
                }
            }
            Event::RunPaused => self.pending.retain(|_, effect| matches!(effect, Effect::ArmTimer { .. })),
            Event::TimeoutReached
            | Event::CancelRequested { .. }
            | Event::GraceEnded
            | Event::StepScheduled { source: Source::Cancel, .. } => {
                self.pending.remove(&run);
            }
            event => {
                if let Some(execution) = event.execution() {
                    self.pending.remove(&execution);
                }
            }
        }
    }

    /// Every message is queued, reserved or consumed, one of them only, and goes out oldest first.
    fn check_messages(&mut self, events: &[Event], before: Option<&RunState>, after: &RunState) -> Checked {
        for event in events {
            match event {
                Event::MessagePublished { slot, .. } => {
                    let ledger = self.ledger(slot);
                    (ledger.last, ledger.count) = (ledger.last + 1, ledger.count + 1);
                    prop_assert!(ledger.given.insert(ledger.last), "no number is given twice");
                    ledger.queue.insert(ledger.last);
                }
                Event::MessageDeleted { slot, number } => {
                    let ledger = self.channels.entry(slot.clone()).or_default();
                    prop_assert!(ledger.queue.remove(number), "only what nobody has taken is deleted");
                    ledger.consumed.insert(*number);
                }
                Event::WaitStarted { condition, .. } => {
                    condition.each_channel(&mut |slot| {
                        self.ledger(slot);
                    });
                }
                Event::ChannelForgotten { slot } => {
                    let ledger = self.channels.entry(slot.clone()).or_default();
                    prop_assert!(ledger.queue.is_empty() && ledger.reserved.is_empty(), "nothing is lost");
                    ledger.forgotten = true;
                    self.numbered = self.numbered.max(ledger.last);
                }
                Event::WaitMet { execution, .. } => {
                    for (slot, number) in held_by(after, *execution) {
                        let ledger = self.channels.entry(slot).or_default();
                        prop_assert_eq!(ledger.queue.pop_first(), Some(number), "the oldest goes first");
                        ledger.reserved.insert(number);
                    }
                }
                Event::StepCompleted { execution } => {
                    for (slot, number) in before.into_iter().flat_map(|run| held_by(run, *execution)) {
                        let ledger = self.channels.entry(slot).or_default();
                        prop_assert!(ledger.reserved.remove(&number), "only what is reserved is consumed");
                        ledger.consumed.insert(number);
                    }
                }
                Event::StepFailed { execution, .. }
                | Event::StepCanceled { execution }
                | Event::StepSkipped { execution } => {
                    for (slot, number) in before.into_iter().flat_map(|run| held_by(run, *execution)) {
                        let ledger = self.channels.entry(slot).or_default();
                        prop_assert!(ledger.reserved.remove(&number), "only what is reserved is given back");
                        ledger.queue.insert(number);
                    }
                }
                Event::RunClosed { .. } => {
                    let left: usize = self.channels.values().map(|l| l.queue.len() + l.reserved.len()).sum();
                    let unconsumed = after.closed.as_ref().map(|closed| closed.unconsumed);
                    prop_assert_eq!(unconsumed, Some(left as u64));
                    for ledger in self.channels.values_mut() {
                        ledger.queue.append(&mut ledger.reserved);
                    }
                }
                _ => {}
            }
        }
        self.compare_channels(after)
    }

    /// Of all waits that can be met the longest one is.
    fn check_order(&self, events: &[Event], before: Option<&RunState>) -> Checked {
        let Some(mut run) = before.cloned() else { return Ok(()) };
        for event in events {
            if let Event::WaitMet { execution, .. } = event {
                // A timer whose instant has come counts for those that are looked at, so it may have been met by one.
                let earlier = first_that_can(&run).filter(|first| first < execution);
                prop_assert_eq!(earlier, None, "{:?} was passed by", event);
            }
            evolve(&mut run, event, self.now).expect("events of the engine fold");
        }
        Ok(())
    }

    /// The ledger of a channel that is used, perhaps again.
    fn ledger(&mut self, slot: &Slot) -> &mut Ledger {
        let new = || Ledger { forgotten: true, ..Ledger::default() };
        let ledger = self.channels.entry(slot.clone()).or_insert_with(new);
        if std::mem::take(&mut ledger.forgotten) {
            ledger.last = self.numbered;
        }
        ledger
    }

    fn compare_channels(&self, after: &RunState) -> Checked {
        for (slot, channel) in &after.channels {
            let needed = !channel.queue.is_empty() || channel.reserved > 0 || !channel.waiting.is_empty();
            let may_stay = slot.key.is_none() || after.closed.is_some();
            prop_assert!(needed || may_stay, "an entry of a map is there as long as it is needed");
            let Some(ledger) = self.channels.get(slot).filter(|ledger| !ledger.forgotten) else {
                prop_assert!(channel.queue.is_empty());
                continue;
            };
            prop_assert_eq!(channel.published, ledger.last);
            prop_assert!(channel.queue.keys().eq(&ledger.queue));
            prop_assert_eq!(channel.reserved, ledger.reserved.len());
            let everywhere = ledger.queue.len() + ledger.reserved.len() + ledger.consumed.len();
            prop_assert_eq!(everywhere as u64, ledger.count, "no message is lost or doubled");
        }
        Ok(())
    }
}

/// Who waits longest of those whose wait can be met.
pub(super) fn first_that_can(run: &RunState) -> Option<ExecutionNo> {
    let can = |no, execution: &Execution| match &execution.phase {
        Phase::Waiting { condition, fired_until } => {
            let ended = |index| run.children.has_ended(no, index);
            condition.meet(|slot| run.available(slot), ended, *fired_until).is_some()
        }
        _ => false,
    };
    run.executions.iter().find(|(no, execution)| can(**no, execution)).map(|(no, _)| *no)
}

/// Whether an event is about what runs want of one another.
fn is_of_family(event: &Event) -> bool {
    let child =
        matches!(event, Event::ChildStarted { .. } | Event::ChildEnded { .. } | Event::ChildStopped { .. });
    child || *event == Event::ParentTold
}

/// The attempt that a command reports about.
fn reported(command: &Command) -> Option<Attempt> {
    match command {
        Command::StartWait(report) => Some(report.attempt),
        Command::CompleteStep(report) => Some(report.attempt),
        Command::FailAttempt(report) => Some(report.attempt),
        _ => None,
    }
}

/// The messages that are reserved for an execution: channel and number, in order.
fn held_by(run: &RunState, execution: ExecutionNo) -> Vec<(Slot, u64)> {
    let outcome = run.executions.get(&execution).and_then(|execution| execution.outcome.as_ref());
    outcome
        .into_iter()
        .flat_map(|outcome| &outcome.reserved)
        .map(|(slot, message)| (slot.clone(), message.number))
        .collect()
}
