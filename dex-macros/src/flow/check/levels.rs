//! Options that cannot work beside one another, on the levels where they may stand: a step's own, those that the
//! flow gives its steps, and the runtime's.
//!
//! Of two that do not go together, the one at the lower level is told, as it was written in the knowledge of the
//! other. Two of the flow's are told once, at the flow, and not again at each step.

use std::time::Duration;

use super::options::given;
use crate::diagnostics::Diagnostics;
use crate::duration;
use crate::flow::model::{Flow, Limit, Step, StepOptions};
use crate::options::Given;

/// Checks pairs of options, those of the flow first.
pub(super) fn fit(flow: &Flow, errors: &mut Diagnostics) {
    let mut of_flow = Diagnostics::default();
    super::options::of_step(&flow.defaults, &mut of_flow);
    pair(&flow.defaults, &StepOptions::default(), &mut of_flow);
    // What is wrong with the flow's is no mistake of the steps.
    let none = StepOptions::default();
    let defaults = if of_flow.is_empty() { &flow.defaults } else { &none };
    for step in &flow.steps {
        pair(&step.options, defaults, errors);
    }
    errors.extend(of_flow);
}

/// Gives each step what the flow says and the step does not.
pub(super) fn inherit(flow: &mut Flow) {
    let defaults = &flow.defaults;
    for Step { options, .. } in &mut flow.steps {
        options.timeout = options.timeout.or(defaults.timeout);
        options.heartbeat = options.heartbeat.or(defaults.heartbeat);
        let (retry, more) = (&mut options.retry, &defaults.retry);
        retry.initial = retry.initial.or(more.initial);
        retry.factor = retry.factor.or(more.factor);
        retry.max_interval = retry.max_interval.or(more.max_interval);
        retry.attempts = retry.attempts.or(more.attempts);
        retry.total = retry.total.or(more.total);
        // A step that takes over settles both of these.
        if options.on_failure.is_none() {
            options.on_exhausted = options.on_exhausted.take().or_else(|| defaults.on_exhausted.clone());
            options.durability = options.durability.take().or_else(|| defaults.durability.clone());
        }
    }
}

/// An option as it holds for a step.
#[derive(Clone, Copy)]
enum Holds {
    Own(Given<Duration>),
    OfFlow(Duration),
    /// What the runtime takes.
    Otherwise(Duration),
}

impl Holds {
    fn of(own: Option<Given<Duration>>, flow: Option<Given<Duration>>) -> Option<Self> {
        own.map(Self::Own).or_else(|| Some(Self::OfFlow(flow?.value)))
    }

    fn limit(own: Option<Limit>, flow: Option<Limit>) -> Option<Self> {
        match own {
            Some(own) => given(own).map(Self::Own),
            None => Self::of(None, flow.and_then(given)),
        }
    }

    fn value(self) -> Duration {
        match self {
            Self::Own(given) => given.value,
            Self::OfFlow(value) | Self::Otherwise(value) => value,
        }
    }
}

fn pair(own: &StepOptions, flow: &StepOptions, errors: &mut Diagnostics) {
    heartbeat_can_be_missed(own, flow, errors);
    pauses_are_in_order(own, flow, errors);
}

// The attempt would be over before anybody could miss a sign of life.
fn heartbeat_can_be_missed(own: &StepOptions, flow: &StepOptions, errors: &mut Diagnostics) {
    let heartbeat = Holds::limit(own.heartbeat, flow.heartbeat);
    let timeout = Holds::limit(own.timeout, flow.timeout);
    let (Some(heartbeat), Some(timeout)) = (heartbeat, timeout) else { return };
    if heartbeat.value() < timeout.value() || timeout.value().is_zero() {
        return;
    }
    let missed = "so it would never be missed";
    match (heartbeat, timeout) {
        (Holds::Own(heartbeat), Holds::Own(_)) => errors.error_at(
            heartbeat.span,
            format_args!("`heartbeat` is not shorter than `timeout`, {missed}: shorten it, or leave it out"),
        ),
        (Holds::Own(heartbeat), timeout) => errors.error_at(
            heartbeat.span,
            format_args!(
                "`heartbeat` is not shorter than the `timeout` of {} that the flow gives its steps, {missed}: \
                 shorten it, or give this step a longer `timeout`",
                duration::text(timeout.value())
            ),
        ),
        (heartbeat, Holds::Own(timeout)) => errors.error_at(
            timeout.span,
            format_args!(
                "`timeout` is not longer than the `heartbeat` of {} that the flow gives its steps, {missed}: \
                 lengthen it, or give this step a shorter `heartbeat`",
                duration::text(heartbeat.value())
            ),
        ),
        _ => {}
    }
}

/// The runtime's pauses when nothing is said: `RetryPolicy::DEFAULT`.
const INITIAL_DEFAULT: Duration = Duration::from_secs(1);
const MAX_INTERVAL_DEFAULT: Duration = Duration::from_secs(100);

// The longest pause would win, and `initial` would mean nothing.
fn pauses_are_in_order(own: &StepOptions, flow: &StepOptions, errors: &mut Diagnostics) {
    let (own, flow) = (&own.retry, &flow.retry);
    let initial = Holds::of(own.initial, flow.initial).unwrap_or(Holds::Otherwise(INITIAL_DEFAULT));
    let max =
        Holds::of(own.max_interval, flow.max_interval).unwrap_or(Holds::Otherwise(MAX_INTERVAL_DEFAULT));
    // That it is zero has been told.
    if initial.value() <= max.value() || max.value().is_zero() {
        return;
    }
    match (initial, max) {
        (Holds::Own(_), Holds::Own(max)) => {
            errors.error_at(max.span, "`max_interval` is shorter than `initial`: swap or change them");
        }
        (Holds::Own(initial), Holds::Otherwise(_)) => errors.error_at(
            initial.span,
            "`initial` is longer than `max_interval`, which is 100s unless you give it",
        ),
        (Holds::Otherwise(_), Holds::Own(max)) => {
            errors.error_at(max.span, "`max_interval` is shorter than `initial`, which is 1s unless you give it");
        }
        (Holds::Own(initial), Holds::OfFlow(max)) => errors.error_at(
            initial.span,
            format_args!(
                "`initial` is longer than the `max_interval` of {} that the flow gives its steps: shorten it, or \
                 give this step a longer `max_interval`",
                duration::text(max)
            ),
        ),
        (Holds::OfFlow(initial), Holds::Own(max)) => errors.error_at(
            max.span,
            format_args!(
                "`max_interval` is shorter than the `initial` of {} that the flow gives its steps: lengthen it, or \
                 give this step a shorter `initial`",
                duration::text(initial)
            ),
        ),
        // No mistake of this step.
        (Holds::OfFlow(_) | Holds::Otherwise(_), Holds::OfFlow(_) | Holds::Otherwise(_)) => {}
    }
}
