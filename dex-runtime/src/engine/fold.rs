//! Reading a run back from its history.

use super::event::Event;
use super::evolve::{Broken, evolve};
use super::state::RunState;
use crate::time::Timestamp;

/// One transition of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its sequence number, from 1.
    pub sequence: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// What happened.
    pub events: Vec<Event>,
}

/// Folds `history` onto `state`: a snapshot, or `None` for the whole history.
///
/// # Errors
///
/// [`Broken`] if the history has a gap, an event that does not fit, or no beginning.
pub fn fold(
    mut state: Option<RunState>,
    history: impl IntoIterator<Item = Recorded>,
) -> Result<Option<RunState>, Broken> {
    for Recorded { sequence, at, events } in history {
        let mut events = events.iter();
        let run = match state.take() {
            Some(run) => run,
            None => match events.next() {
                Some(Event::RunStarted { identity, timeout }) => {
                    RunState { version: 0, ..RunState::begin(identity.clone(), timeout.clone()) }
                }
                other => {
                    let event = other.map_or("an empty transition", Event::name);
                    return Err(Broken { event, version: sequence });
                }
            },
        };
        let run = state.insert(run);
        if sequence != run.version + 1 {
            return Err(Broken { event: "a gap", version: sequence });
        }
        run.version = sequence;
        for event in events {
            evolve(run, event, at)?;
        }
        run.ended = None;
    }
    Ok(state)
}
