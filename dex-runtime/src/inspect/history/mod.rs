//! A run's history, as people and tools read it: what happened, in the order of its transitions.
//!
//! It is made from the stored events and knows neither stores nor callers.

mod detail;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::engine::Event;
use crate::ids::{ExecutionNo, Name};
use crate::time::Timestamp;

/// A transition of a run: all that happened at once, because of one call, one report of a handler, or one timer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its place in the run's history, from 1 and without gaps.
    pub sequence: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// What happened, in order.
    pub events: Vec<HistoryEvent>,
}

/// Something that happened to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryEvent {
    /// What kind of thing, such as `StepCompleted`.
    pub name: &'static str,
    /// The step execution that it is about, `<step>-<n>`, if it is about one.
    pub execution: Option<String>,
    /// What is to be said about it, as a JSON object. What is in it differs by kind, and later builds may say more.
    pub detail: Json,
}

impl HistoryEntry {
    /// What a handler noted in this transition: names and values, in order.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.events.iter().filter_map(HistoryEvent::note)
    }
}

impl HistoryEvent {
    /// Name and value, if it is what a handler [noted](crate::definition::StepContext::note).
    pub fn note(&self) -> Option<(&str, &Json)> {
        let is_note = self.name == "Noted";
        is_note.then(|| Some((self.detail.get("name")?.as_str()?, self.detail.get("value")?))).flatten()
    }
}

/// Tells the events of one run, which have to come in their order and without gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Teller {
    /// Executions ever scheduled of each step.
    counts: BTreeMap<Name, u32>,
    /// What people call the executions that have not ended.
    open: BTreeMap<ExecutionNo, String>,
}

impl Teller {
    /// Tells a transition.
    pub(crate) fn tell(&mut self, sequence: u64, at: Timestamp, events: &[Event]) -> HistoryEntry {
        // What follows from an execution that ends is in the same transition.
        let mut ended = Vec::new();
        let events = events.iter().map(|event| {
            self.note_open(event);
            ended.extend(ends(event));
            HistoryEvent {
                name: event.name(),
                execution: event.execution().map(|no| self.id(no)),
                detail: self.detail(event),
            }
        });
        let entry = HistoryEntry { sequence, at, events: events.collect() };
        for no in ended {
            self.open.remove(&no);
        }
        entry
    }

    /// As [`tell`](Self::tell), where nobody listens.
    pub(crate) fn skip(&mut self, events: &[Event]) {
        for event in events {
            self.note_open(event);
            if let Some(no) = ends(event) {
                self.open.remove(&no);
            }
        }
    }

    fn note_open(&mut self, event: &Event) {
        if let Event::StepScheduled { execution, step, .. } = event {
            let count = self.counts.entry(step.clone()).or_default();
            *count += 1;
            self.open.insert(*execution, format!("{step}-{count}"));
        }
    }

    /// What people call the execution.
    fn id(&self, no: ExecutionNo) -> String {
        self.open.get(&no).cloned().unwrap_or_else(|| format!("#{}", no.0))
    }
}

/// The execution that ends with `event`.
fn ends(event: &Event) -> Option<ExecutionNo> {
    match event {
        Event::StepCompleted { execution }
        | Event::StepFailed { execution, .. }
        | Event::StepSkipped { execution }
        | Event::StepCanceled { execution } => Some(*execution),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::record::arbitrary::event;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is stored can be told.
        #[test]
        fn every_event_is_told_by_its_name_with_an_object(event in event()) {
            let entry = Teller::default().tell(1, Timestamp::EPOCH, std::slice::from_ref(&event));
            let told = &entry.events[0];
            prop_assert_eq!(told.name, event.name());
            prop_assert!(told.detail.is_object(), "{}", told.detail);
            prop_assert_eq!(told.execution.is_some(), event.execution().is_some());
            prop_assert_eq!(told.note().is_some(), matches!(event, Event::Noted { .. }));
        }

        #[test]
        fn what_is_skipped_leaves_the_same_behind_as_what_is_told(events in prop::collection::vec(event(), 0..20)) {
            let (mut told, mut skipped) = (Teller::default(), Teller::default());
            told.tell(1, Timestamp::EPOCH, &events);
            skipped.skip(&events);
            prop_assert_eq!(told.counts, skipped.counts);
            let open: BTreeSet<_> = told.open.into_keys().collect();
            prop_assert!(skipped.open.into_keys().collect::<BTreeSet<_>>().is_superset(&open));
        }
    }
}
