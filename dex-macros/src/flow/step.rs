//! `#[step]`, `#[on_timeout]` and `#[on_cancel]`: the options of a step; and those that a flow has for all of them.

use syn::{Attribute, Result};

use super::handle::arguments;
use super::handler::{self, Names};
use super::member::Raw;
use super::model::{Entrance, Retry, Step, StepOptions};
use super::signature::Role;
use crate::attributes::Mark;
use crate::diagnostics::Diagnostics;
use crate::names;
use crate::options::{self, Setting};

const OPTIONS: &[&str] = &[
    "start",
    "entry",
    "name",
    "alias",
    "retry",
    "timeout",
    "heartbeat",
    "on_failure",
    "on_exhausted",
    "lock",
    "no_lock",
    "durability",
];

/// What means nothing for a step that the runtime starts: it is come to in one way, and needs no lock for what it writes.
const OF_OTHERS_ONLY: &[&str] = &["start", "entry", "no_lock"];

/// What a flow can say for all of its steps: what makes sense for each of them whatever it does.
const DEFAULTS: &[&str] = &["retry", "timeout", "heartbeat", "on_exhausted", "durability"];

const RETRY_OPTIONS: &[&str] = &["initial", "factor", "max_interval", "attempts", "total"];

/// Reads a step.
pub(super) fn read(mark: Mark, attr: &Attribute, raw: &Raw, errors: &mut Diagnostics) -> Option<Step> {
    let (word, entrance) = match mark {
        Mark::OnTimeout => ("on_timeout", Some(Entrance::Timeout)),
        Mark::OnCancel => ("on_cancel", Some(Entrance::Cancel)),
        _ => ("step", None),
    };
    let is_legal = |option: &&str| entrance.is_none() || !OF_OTHERS_ONLY.contains(option);
    let legal: Vec<&str> = OPTIONS.iter().copied().filter(is_legal).collect();
    let sig = handler::method(attr, raw, word, errors)?;
    let mut names = Names::default();
    let mut given = StepOptions { entrance, ..StepOptions::default() };
    let tokens = arguments(attr, errors);
    options::read_list(tokens, &format!("#[{word}]"), &legal, errors, |key, setting, errors| {
        match key {
            "name" => names.name = Some(setting.text()?),
            "alias" => names.alias = Some(setting.text()?),
            _ => read_option(key, setting, &mut given, errors)?,
        }
        Ok(())
    });
    let handler = handler::handler(Role::Step, sig, raw, &names, errors)?;
    let constant = names::constant(&sig.ident);
    if constant.is_none() {
        errors.error(&sig.ident, "this name has no form in capitals for the step's constant: choose another");
    }
    Some(Step { handler, constant, options: given, wait: None })
}

/// Reads the `steps(…)` of `#[flow]`.
pub(super) fn read_defaults(setting: &Setting<'_>, errors: &mut Diagnostics) -> Result<StepOptions> {
    let mut defaults = StepOptions::default();
    let tokens = setting.list("timeout = \"30s\"")?;
    options::read_list(tokens, "steps", DEFAULTS, errors, |key, setting, errors| {
        read_option(key, setting, &mut defaults, errors)
    });
    Ok(defaults)
}

fn read_option(
    key: &str,
    setting: &Setting<'_>,
    given: &mut StepOptions,
    errors: &mut Diagnostics,
) -> Result<()> {
    match key {
        "start" => given.start = Some(setting.flag()?),
        "entry" => given.entrance = Some(setting.flag().map(|_| Entrance::Elsewhere)?),
        "retry" => given.retry = read_retry(setting, errors)?,
        "timeout" => given.timeout = Some(setting.limit("30s")?),
        "heartbeat" => given.heartbeat = Some(setting.limit("10s")?),
        "on_failure" => given.on_failure = Some(setting.method()?),
        "on_exhausted" => given.on_exhausted = Some(setting.word(&["fail", "park", "proceed"])?),
        "lock" => given.locks = setting.constants()?,
        "no_lock" => given.no_locks = setting.constants()?,
        _ => given.durability = Some(setting.word(&["sync", "async"])?),
    }
    Ok(())
}

fn read_retry(setting: &Setting<'_>, errors: &mut Diagnostics) -> Result<Retry> {
    let mut retry = Retry::default();
    let tokens = setting.list("total = \"1h\"")?;
    let mut wrong = Diagnostics::default();
    options::read_list(tokens, "retry", RETRY_OPTIONS, &mut wrong, |key, setting, _| {
        match key {
            "initial" => retry.initial = Some(setting.duration("1s")?),
            "factor" => retry.factor = Some(setting.factor()?),
            "max_interval" => retry.max_interval = Some(setting.duration("100s")?),
            "attempts" => retry.attempts = Some(setting.count()?),
            _ => retry.total = Some(setting.duration("4h")?),
        }
        Ok(())
    });
    // What is left out by mistake may be what the rest depends on.
    let retry = if wrong.is_empty() { retry } else { Retry::default() };
    errors.extend(wrong);
    Ok(retry)
}
