//! What holds for an execution: its step's definition with its movement's patch over it.

use std::time::Duration;

use crate::definition::describe::StepDefinition;
use crate::engine::{Durability, OnExhausted, PatchedEnd, RetryPolicy, StepPatch};

/// The options of an execution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Effective<'a> {
    pub(crate) retry: RetryPolicy,
    pub(crate) timeout: Option<Duration>,
    pub(crate) heartbeat: Option<Duration>,
    pub(crate) end: End<'a>,
    durability: Durability,
}

/// What happens when the retries are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End<'a> {
    Of(OnExhausted),
    /// The step with this stored name takes over.
    Recover(&'a str),
}

impl<'a> Effective<'a> {
    pub(crate) fn of(step: &'static StepDefinition, patch: Option<&'a StepPatch>) -> Self {
        let of_step = || step.on_failure.map_or(End::Of(step.on_exhausted), End::Recover);
        let end = match patch.and_then(|patch| patch.exhausted.as_ref()) {
            Some(PatchedEnd::Of(then)) => End::Of(*then),
            Some(PatchedEnd::Recover(step)) => End::Recover(step.as_str()),
            None => of_step(),
        };
        Self {
            retry: patch.map_or(step.retry, |patch| patch.retry_over(step.retry)),
            timeout: patch.and_then(|patch| patch.timeout).or(step.timeout),
            heartbeat: patch.and_then(|patch| patch.heartbeat).or(step.heartbeat),
            end,
            durability: patch.and_then(|patch| patch.durability).unwrap_or(step.durability),
        }
    }

    /// Whether what the step reports has to be on disk before anything follows from it.
    pub(crate) fn is_sync(&self) -> bool {
        // A recovery acts on what is known of the step's outcome, so that has to be certain.
        self.durability == Durability::Sync || matches!(self.end, End::Recover(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Name;

    static STEP: StepDefinition = StepDefinition {
        timeout: Some(Duration::from_secs(30)),
        on_failure: Some("mend"),
        durability: Durability::Async,
        ..StepDefinition::DEFAULT
    };

    fn with(patch: &StepPatch) -> Effective<'_> {
        Effective::of(&STEP, Some(patch))
    }

    #[test]
    fn what_is_not_patched_is_the_steps() {
        let (own, patched) = (Effective::of(&STEP, None), StepPatch::default());
        assert_eq!(own, with(&patched));
        assert_eq!((own.timeout, own.end), (STEP.timeout, End::Recover("mend")));
        let patch = StepPatch { heartbeat: Some(Duration::from_secs(1)), ..StepPatch::default() };
        assert_eq!(with(&patch), Effective { heartbeat: Some(Duration::from_secs(1)), ..own });
    }

    #[test]
    fn a_patch_says_all_of_what_happens_in_the_end() {
        let end = |exhausted| StepPatch { exhausted: Some(exhausted), ..StepPatch::default() };
        let park = end(PatchedEnd::Of(OnExhausted::Park));
        assert_eq!(with(&park).end, End::Of(OnExhausted::Park));
        let other = end(PatchedEnd::Recover(Name::new("other").unwrap()));
        assert_eq!(with(&other).end, End::Recover("other"));
    }

    #[test]
    fn a_step_with_a_recovery_is_sync() {
        assert!(Effective::of(&STEP, None).is_sync());
        let none = StepPatch { exhausted: Some(PatchedEnd::Of(OnExhausted::Fail)), ..StepPatch::default() };
        assert!(!with(&none).is_sync());
        let sync = StepPatch { durability: Some(Durability::Sync), ..none };
        assert!(with(&sync).is_sync());
    }
}
