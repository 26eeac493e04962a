//! One command, from question to consequence.

use super::command::{Command, Start};
use super::decide::{Limits, Rejection, decide};
use super::effect::{self, Effect};
use super::event::Event;
use super::evolve::{Broken, evolve};
use super::settle::Agenda;
use super::size;
use super::state::RunState;
use super::view::View;
use crate::ids::ExecutionNo;
use crate::time::Timestamp;

/// What one command did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// What happened, in order. Empty for a command that changed nothing: there is then nothing to commit.
    pub events: Vec<Event>,
    /// What has to be done about it, after the commit.
    pub effects: Vec<Effect>,
    /// Timers that exist from here on.
    pub timers_set: Vec<(Timestamp, ExecutionNo)>,
    /// Timers that no longer do.
    pub timers_cleared: Vec<(Timestamp, ExecutionNo)>,
    /// Whether the run is active now, if that changed.
    pub active: Option<bool>,
}

/// Why a command did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not fit the run; the run is as before.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The rules contradict themselves; the state is not to be used again.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Decides `command` and folds what happens into `state`; `None` is a run that does not exist.
///
/// # Errors
///
/// [`Refusal::Rejected`] if the command does not fit the run. [`Refusal::Broken`] never, unless the engine
/// has a fault: the run must then be set aside.
pub fn transition(
    state: &mut Option<RunState>,
    command: Command,
    now: Timestamp,
    limits: &Limits,
) -> Result<Transition, Refusal> {
    let brings_values = command.brings_values();
    let mut events = decide(state.as_ref(), command, now, limits)?;
    if events.is_empty() {
        return Ok(Transition::default());
    }
    if brings_values {
        size::check(state.as_ref(), &events, now, limits)?;
    }
    let was_active = state.as_ref().is_some_and(RunState::is_active);
    let (run, begun) = match state {
        Some(run) => {
            run.version += 1;
            (run, 0)
        }
        None => (begin(state, events.first())?, 1),
    };
    let mut steps = Steps { agenda: Agenda::default(), done: Transition::default(), now };
    if begun > 0 {
        steps.done.timers_set.extend(run_timer(run));
    }
    for event in events.iter().skip(begun) {
        steps.take(run, event)?;
    }
    while let Some(event) = steps.agenda.next(run, now) {
        steps.take(run, &event)?;
        events.push(event);
    }
    run.ended = None;
    let mut done = steps.done;
    done.events = events;
    // A timer that was set and cleared within the transition never was.
    done.timers_set.retain(|set| match done.timers_cleared.iter().position(|cleared| cleared == set) {
        Some(place) => {
            done.timers_cleared.swap_remove(place);
            false
        }
        None => true,
    });
    done.effects = effect::effects(&done.events, run);
    done.active = (run.is_active() != was_active).then_some(run.is_active());
    #[cfg(debug_assertions)]
    if let Err(violation) = super::invariant::check(run) {
        debug_assert!(false, "after {:?}: {violation}", done.events);
    }
    Ok(done)
}

/// Why `command` would begin no run, where there is none.
pub fn refused_start(command: Command, now: Timestamp, limits: &Limits) -> Option<Rejection> {
    match transition(&mut None, command, now, limits) {
        Err(Refusal::Rejected(rejection)) => Some(rejection),
        Ok(_) | Err(Refusal::Broken(_)) => None,
    }
}

/// What the first handler of a run that begins so sees of it.
///
/// # Errors
///
/// Why no run begins so.
pub fn begun(start: Start, now: Timestamp, limits: &Limits) -> Result<View, Refusal> {
    let mut run = None;
    transition(&mut run, Command::Start(start), now, limits)?;
    let nothing = Broken { event: "nothing", version: 1 };
    Ok(run.as_ref().map(View::of).ok_or(nothing)?)
}

/// The run that `first` begins.
fn begin<'a>(state: &'a mut Option<RunState>, first: Option<&Event>) -> Result<&'a mut RunState, Broken> {
    match first {
        Some(Event::RunStarted { identity, timeout }) => {
            Ok(state.insert(RunState::begin(identity.clone(), timeout.clone())))
        }
        other => Err(Broken { event: other.map_or("nothing", Event::name), version: 1 }),
    }
}

/// The timer of the run as a whole.
fn run_timer(run: &RunState) -> Option<(Timestamp, ExecutionNo)> {
    Some((run.due()?, ExecutionNo(0)))
}

struct Steps {
    agenda: Agenda,
    done: Transition,
    now: Timestamp,
}

impl Steps {
    fn take(&mut self, run: &mut RunState, event: &Event) -> Result<(), Broken> {
        self.agenda.note(event, run);
        let about = event.execution();
        let due = |run: &RunState| about.and_then(|no| Some((run.executions.get(&no)?.due()?, no)));
        if let Event::RunClosed { .. } = event {
            let open = run.executions.iter();
            self.done.timers_cleared.extend(open.filter_map(|(no, open)| Some((open.due()?, *no))));
        }
        let (before, run_before) = (due(run), run_timer(run));
        evolve(run, event, self.now)?;
        let (after, run_after) = (due(run), run_timer(run));
        for (before, after) in [(before, after), (run_before, run_after)] {
            if before != after {
                self.done.timers_cleared.extend(before);
                self.done.timers_set.extend(after);
            }
        }
        Ok(())
    }
}
