//! Options that cannot work, each by itself. The runtime has the same rules for options of a movement.

use std::time::Duration;

use proc_macro2::Span;

use crate::diagnostics::Diagnostics;
use crate::flow::model::{Flow, Limit, Retry, Rpc, StepOptions};
use crate::options::Given;

pub(super) fn of_flow(flow: &Flow, errors: &mut Diagnostics) {
    may_be_given("timeout", flow.timeout, errors);
    schemas_can_be_made(flow.schemas, cfg!(feature = "schemars"), errors);
}

// What makes them is not built without the feature; a path to it would be told as a fault of the macro's.
fn schemas_can_be_made(schemas: Option<Span>, feature: bool, errors: &mut Diagnostics) {
    if let Some(word) = schemas.filter(|_| !feature) {
        let message =
            "`schemas` needs a feature of dex: write `features = [\"schemars\"]` at dex in `Cargo.toml`";
        errors.error_at(word, message);
    }
}

pub(super) fn of_rpc(rpc: &Rpc, errors: &mut Diagnostics) {
    may_be_given("timeout", rpc.timeout, errors);
}

/// Checks what a step says, or what a flow says for all of its steps, by itself.
pub(super) fn of_step(options: &StepOptions, errors: &mut Diagnostics) {
    may_be_given("timeout", options.timeout.and_then(given), errors);
    may_be_given("heartbeat", options.heartbeat.and_then(given), errors);
    recovery_stands_alone(options, errors);
    retry_can_work(&options.retry, errors);
}

/// The limit, unless it is `none`.
pub(super) fn given(limit: Limit) -> Option<Given<Duration>> {
    Some(Given { value: limit.value?, span: limit.span })
}

fn may_be_given(word: &str, duration: Option<Given<Duration>>, errors: &mut Diagnostics) {
    if let Some(duration) = &duration {
        not_zero(word, duration, errors);
    }
}

// A step that takes over settles both what happens at the end of the retries and what must be certain before.
fn recovery_stands_alone(options: &StepOptions, errors: &mut Diagnostics) {
    if options.on_failure.is_none() {
        return;
    }
    if let Some(word) = &options.on_exhausted {
        let message =
            "`on_failure` says what happens when the retries are used up: remove it or `on_exhausted`";
        errors.error(word, message);
    }
    if let Some(word) = options.durability.as_ref().filter(|word| *word == "async") {
        let message = "a step with `on_failure` is always `sync`, since its recovery acts on what is certain: remove one of them";
        errors.error(word, message);
    }
}

fn retry_can_work(retry: &Retry, errors: &mut Diagnostics) {
    let durations =
        [("initial", &retry.initial), ("max_interval", &retry.max_interval), ("total", &retry.total)];
    for (word, duration) in durations {
        if let Some(duration) = duration {
            not_zero(word, duration, errors);
        }
    }
    if let Some(factor) = retry.factor.filter(|factor| !(1.0..=FACTOR_MAX).contains(&factor.value)) {
        errors.error_at(
            factor.span,
            format_args!("`factor` is from 1 to {FACTOR_MAX}: each pause is so many times the one before"),
        );
    }
    if let Some(attempts) = retry.attempts.filter(|attempts| attempts.value == 0) {
        errors.error_at(attempts.span, "`attempts` counts the first one too: write at least 1");
    }
}

/// Largest factor. Beyond it the second pause is the longest one anyway.
const FACTOR_MAX: f64 = 1000.0;

// Nothing can be done in no time.
fn not_zero(word: &str, duration: &Given<Duration>, errors: &mut Diagnostics) {
    if duration.value.is_zero() {
        errors.error_at(
            duration.span,
            format_args!("`{word}` is zero: write at least \"1ms\", or leave it out"),
        );
    }
}
