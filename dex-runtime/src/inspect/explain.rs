//! Why a run does not move, in one line.

use super::info::{ChildInfo, ChildPhase, LockInfo, RunInfo, StepInfo, StepPhase};
use crate::engine::Status;

impl RunInfo {
    /// Why the run does not move: what it waits for, since when, until when, and what would move it.
    pub fn explain(&self) -> String {
        if let Some(closed) = &self.closed {
            return format!("ended at {}: {}", closed.at, self.status);
        }
        let what = self.explain_steps();
        let due = self.due.map_or_else(String::new, |due| format!(" until {due} at the latest"));
        match self.status {
            Status::Paused => format!("paused: `resume()` lets it go on; {what}"),
            _ if self.canceling => format!("being cancelled{due}; {what}"),
            _ => what,
        }
    }

    fn explain_steps(&self) -> String {
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

impl ChildInfo {
    fn explain(&self) -> String {
        let Self { flow_id, flow, phase, .. } = self;
        match phase {
            ChildPhase::Starting => {
                format!("child `{flow_id}` (not started: it is about to be, if flow `{flow}` is registered)")
            }
            ChildPhase::Running | ChildPhase::Ended => format!("child `{flow_id}` ({phase:?})"),
        }
    }
}

impl LockInfo {
    fn explain(&self) -> String {
        match &self.holder {
            Some(holder) => format!("lock `{}`, which {holder} holds", self.name),
            None => format!("lock `{}`, for which another step has waited longer", self.name),
        }
    }
}

impl StepInfo {
    fn weight(&self) -> u8 {
        match self.phase {
            StepPhase::Parked | StepPhase::Missing => 4,
            StepPhase::Retrying => 3,
            StepPhase::Waiting => 2,
            StepPhase::Locked => 1,
            StepPhase::Running => 0,
        }
    }

    /// The children that have not ended: the one, or how many and the first.
    fn explain_children(&self) -> Option<String> {
        let mut open = self.children.iter().filter(|child| child.phase != ChildPhase::Ended);
        let first = open.next()?.explain();
        match open.count() {
            0 => Some(first),
            more => Some(format!("{} children, the first of them {first}", more + 1)),
        }
    }

    fn explain(&self) -> String {
        let Self { id, since, .. } = self;
        let failure = self.last_failure.as_ref().map_or("", |failure| failure.message.as_str());
        let due = self.due.map(|due| due.to_string());
        let options = match &self.patch {
            Some(patch) => format!("; its movement says {patch}"),
            None => String::new(),
        };
        match self.phase {
            StepPhase::Running => format!("{id} runs since {since}{options}"),
            StepPhase::Missing => format!(
                "{id} stands since {since}, since this build has no such step; it goes on in one that has, \
                 `skip_step(\"{id}\")` ends it, `redirect_step` goes on with another step"
            ),
            StepPhase::Retrying => format!(
                "{id} failed {} times ({failure}); it is tried again at {}{options}",
                self.failures,
                due.unwrap_or_default(),
            ),
            StepPhase::Parked => {
                format!(
                    "{id} is parked since {since} ({failure}); after the fix, `retry_step(\"{id}\")` moves it; `skip_step` ends it{options}"
                )
            }
            StepPhase::Locked => {
                let locks: Vec<String> = self.locks.iter().map(LockInfo::explain).collect();
                format!("{id} waits since {since} for {}", locks.join(" and "))
            }
            StepPhase::Waiting => {
                let mut awaited: Vec<String> =
                    self.channels.iter().map(|channel| format!("a message of {channel}")).collect();
                awaited.extend(self.explain_children());
                awaited.extend(due);
                format!("{id} waits since {since} for {}", awaited.join(" or "))
            }
        }
    }
}
