//! The rules as rows: given these events, when this command comes, then these events follow.
//!
//! [`given`] and [`Given::when`] are the only ones that know the engine's functions; `words` makes the
//! values that rows are written with. `property` tries what nobody thought of.

mod cancel;
mod checkpoint;
mod children;
mod decisions;
mod fold;
mod forgotten;
mod invariant;
mod locks;
mod operate;
mod patch;
mod pause;
mod property;
mod publish;
mod reads;
mod recovery;
mod request;
mod reservation;
mod retry;
mod rpc;
mod size;
mod source;
mod staged;
mod start;
mod step;
mod stop;
mod timeout;
mod timer;
mod wait;
mod waiters;
mod words;
mod write;

use self::words::at;
use super::{
    Command, Effect, Event, Limits, Recorded, Refusal, Rejection, RunState, Task, Transition, fold as refold,
    invariant::check as check_invariants, outstanding, transition,
};
use crate::ids::ExecutionNo;
use crate::time::Timestamp;

/// A run, and the time.
#[derive(Clone, Debug)]
struct Given {
    state: Option<RunState>,
    now: Timestamp,
    limits: Limits,
}

/// The run that these events, all of second 0, have led to. No events: no run.
fn given(events: impl IntoIterator<Item = Event>) -> Given {
    let events: Vec<_> = events.into_iter().collect();
    let history = (!events.is_empty()).then(|| Recorded { sequence: 1, at: at(0), events });
    let state = refold(None, history).expect("the given events fit each other");
    if let Some(run) = &state {
        check_invariants(run).expect("the given events leave a sound run");
    }
    Given { state, now: at(0), limits: Limits::DEFAULT }
}

impl Given {
    fn at(mut self, second: u64) -> Self {
        self.now = at(second);
        self
    }

    fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    fn run(&self) -> &RunState {
        self.state.as_ref().expect("there is a run")
    }

    /// The handler call that is outstanding for an execution.
    #[track_caller]
    fn task(&self, execution: u64) -> Task {
        let tasks = outstanding(self.run()).into_iter().find_map(|effect| match effect {
            Effect::Dispatch(task) if task.attempt.execution == ExecutionNo(execution) => Some(*task),
            _ => None,
        });
        tasks.expect("the execution has a handler to call")
    }

    fn when(self, command: Command) -> When {
        let mut after = self.clone();
        let result = match transition(&mut after.state, command, self.now, &self.limits) {
            Ok(done) => Ok(done),
            Err(Refusal::Rejected(rejection)) => Err(rejection),
            Err(Refusal::Broken(broken)) => panic!("{broken}"),
        };
        let events = result.as_ref().map_or(&[][..], |done| &done.events);
        assert_eq!(after.state, self.folded_with(events), "the state is the fold of its events");
        When { after, result }
    }

    fn folded_with(&self, events: &[Event]) -> Option<RunState> {
        let sequence = self.state.as_ref().map_or(0, |run| run.version) + 1;
        let record = Recorded { sequence, at: self.now, events: events.to_vec() };
        let history = (!events.is_empty()).then_some(record);
        refold(self.state.clone(), history).expect("events of the engine fold")
    }
}

/// What a command did.
#[derive(Debug)]
#[must_use = "say what is expected"]
struct When {
    after: Given,
    result: Result<Transition, Rejection>,
}

impl When {
    #[track_caller]
    fn then(self, events: impl IntoIterator<Item = Event>) -> Given {
        let expected: Vec<_> = events.into_iter().collect();
        assert_eq!(self.result.expect("the command fits the run").events, expected);
        self.after
    }

    /// The run after the command, whatever happened exactly.
    #[track_caller]
    fn fine(self) -> Given {
        self.result.expect("the command fits the run");
        self.after
    }

    #[track_caller]
    fn does(self, effects: impl IntoIterator<Item = Effect>) -> Given {
        let expected: Vec<_> = effects.into_iter().collect();
        assert_eq!(self.result.expect("the command fits the run").effects, expected);
        self.after
    }

    #[track_caller]
    fn refused(self, rejection: &Rejection) -> Given {
        assert_eq!(self.result.as_ref().expect_err("the command does not fit the run"), rejection);
        self.after
    }
}
