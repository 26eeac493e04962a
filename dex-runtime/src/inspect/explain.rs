//! Why a run does not move, in one line.

use super::info::{RunInfo, StepInfo, StepPhase};

impl RunInfo {
    /// Why the run does not move: what it waits for, since when, until when, and what would move it.
    pub fn explain(&self) -> String {
        if let Some(closed) = &self.closed {
            return format!("ended at {}: {}", closed.at, self.status);
        }
        match self.steps.as_slice() {
            [] => "open with no step: only an RPC can start one, or a stop end it".to_owned(),
            [step] => step.explain(),
            steps => {
                // What needs a person comes first, then what comes by itself last.
                let first = steps.iter().max_by_key(|step| step.weight());
                let first = first.map(StepInfo::explain).unwrap_or_default();
                format!("{} open steps; {first}", steps.len())
            }
        }
    }
}

impl StepInfo {
    fn weight(&self) -> u8 {
        match self.phase {
            StepPhase::Parked => 3,
            StepPhase::Retrying => 2,
            StepPhase::Waiting => 1,
            StepPhase::Running => 0,
        }
    }

    fn explain(&self) -> String {
        let Self { id, since, .. } = self;
        let failure = self.last_failure.as_ref().map_or("", |failure| failure.message.as_str());
        let due = self.due.map(|due| due.to_string());
        match self.phase {
            StepPhase::Running => format!("{id} runs since {since}"),
            StepPhase::Retrying => format!(
                "{id} failed {} times ({failure}); it is tried again at {}",
                self.failures,
                due.unwrap_or_default(),
            ),
            StepPhase::Parked => {
                format!(
                    "{id} is parked since {since} ({failure}); after the fix, `retry_step(\"{id}\")` moves it"
                )
            }
            StepPhase::Waiting => {
                let mut awaited: Vec<String> =
                    self.channels.iter().map(|channel| format!("a message of {channel}")).collect();
                awaited.extend(due);
                format!("{id} waits since {since} for {}", awaited.join(" or "))
            }
        }
    }
}
