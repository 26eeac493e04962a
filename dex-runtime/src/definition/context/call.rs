//! Which call of which execution a handler is, and what led to it.

use std::fmt;

use crate::engine::{Recovery, Source, StepId};
use crate::ids::Name;
use crate::time::Timestamp;

/// Which call of which step execution a handler is.
#[derive(Debug)]
pub(crate) struct CallInfo {
    pub(crate) step: Name,
    /// The execution's number among those of the step.
    pub(crate) number: u32,
    /// From 1, counted for this method of this execution.
    pub(crate) attempt: u32,
    /// When the first of these attempts started.
    pub(crate) first_attempt_at: Timestamp,
    /// What scheduled the execution.
    pub(crate) source: Source,
    /// What people call the execution that `source` names.
    pub(crate) source_id: Option<StepId>,
    /// What the step recovers from, if it is a recovery.
    pub(crate) recovery: Option<Recovery>,
}

impl CallInfo {
    pub(super) fn execution_id(&self) -> String {
        format!("{}-{}", self.step, self.number)
    }

    pub(super) fn source(&self) -> StepSource {
        let id = |no: u64| self.source_id.as_ref().map_or_else(|| format!("#{no}"), ToString::to_string);
        match &self.source {
            Source::Start => StepSource::Start,
            Source::Step(no) => StepSource::Step(id(no.0)),
            Source::Recovery(no) => StepSource::Recovery(id(no.0)),
            Source::Timeout => StepSource::Timeout,
            Source::Cancel => StepSource::Cancel,
            Source::Rpc(rpc) => StepSource::Rpc(rpc.to_string()),
        }
    }
}

/// What scheduled a step execution; given by [`StepContext::source`](super::StepContext::source) and
/// [`WaitContext::source`](super::WaitContext::source).
///
/// Step executions are named `<step>-<n>`, as by [`StepContext::execution_id`](super::StepContext::execution_id). One
/// that was scheduled by an earlier build, which did not keep that name, has the execution's number in the run in its
/// place: `#7`.
///
/// ```
/// use dex_runtime::definition::StepSource;
///
/// assert_eq!(StepSource::Step("charge-1".into()).to_string(), "step charge-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepSource {
    /// The start of the run.
    Start,
    /// The decision of this step execution, or an operator who went on in its place.
    Step(String),
    /// The failure of this step execution, from which this one is to recover.
    Recovery(String),
    /// The end of the run's time.
    Timeout,
    /// The cancelling of the run.
    Cancel,
    /// The RPC with this stored name.
    Rpc(String),
}

impl fmt::Display for StepSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Step(execution) => write!(f, "step {execution}"),
            Self::Recovery(execution) => write!(f, "recovery of {execution}"),
            Self::Timeout => f.write_str("timeout"),
            Self::Cancel => f.write_str("cancel"),
            Self::Rpc(rpc) => write!(f, "RPC {rpc}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ExecutionNo;

    fn source(source: Source, source_id: Option<StepId>) -> StepSource {
        let step = Name::new("ship").unwrap();
        let first_attempt_at = Timestamp::EPOCH;
        CallInfo { step, number: 1, attempt: 1, first_attempt_at, source, source_id, recovery: None }.source()
    }

    #[test]
    fn a_source_is_told_as_people_know_it() {
        let charge = StepId { step: Name::new("charge").unwrap(), number: 2 };
        let rows = [
            (Source::Start, None, "start"),
            (Source::Step(ExecutionNo(7)), Some(charge.clone()), "step charge-2"),
            (Source::Recovery(ExecutionNo(7)), Some(charge), "recovery of charge-2"),
            (Source::Timeout, None, "timeout"),
            (Source::Cancel, None, "cancel"),
            (Source::Rpc(Name::new("approve").unwrap()), None, "RPC approve"),
            // Of a snapshot that an earlier build wrote.
            (Source::Step(ExecutionNo(7)), None, "step #7"),
        ];
        for (kind, id, words) in rows {
            assert_eq!(source(kind, id).to_string(), words);
        }
    }
}
