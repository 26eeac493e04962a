//! The rules over a whole flow, one function each, with the reason for the rule.
//!
//! What types must decide is checked by the compiler, in code that [`super::expand`] writes for it.

mod bodies;
mod input;
mod levels;
mod locks;
mod options;
mod paths;
mod writes;

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::{Attribute, Type};

use super::model::{Entrance, Flow, Handler, Member, Step};
use crate::diagnostics::Diagnostics;
use crate::{source, suggest};

pub(super) use self::bodies::mean_something;
pub(super) use self::paths::lead_everywhere;

/// Checks all rules. Links waits to their steps, takes back constants that clash, and gives each step the options
/// that the flow has for it.
///
/// Gives whether a member is written twice, which the compiler will report.
pub(super) fn flow(flow: &mut Flow, errors: &mut Diagnostics) -> bool {
    let mut unheard = Diagnostics::default();
    let errors = if flow.lost.anything { &mut unheard } else { errors };
    let repeated = forget_repeated(flow);
    one_start(flow, errors);
    stored_names_differ(flow, errors);
    constants_are_free(flow, errors);
    let all_waits_are_known = waits_have_a_step(flow, errors) && !flow.lost.a_wait;
    one_step_for_each_end(flow, errors);
    input::comes_before_the_outcome(flow, errors);
    for step in &flow.steps {
        // A wait that is not known may be this step's.
        if all_waits_are_known {
            outcome_comes_from_a_wait(step, errors);
        }
        recovery_exists(flow, step, errors);
        options::of_step(&step.options, errors);
        locks::are_attributes(flow, &step.options.locks, errors);
        locks::are_attributes(flow, &step.options.no_locks, errors);
    }
    for rpc in &flow.rpcs {
        options::of_rpc(rpc, errors);
        locks::are_attributes(flow, &rpc.locks, errors);
    }
    options::of_flow(flow, errors);
    levels::fit(flow, errors);
    levels::inherit(flow);
    repeated
}

// The compiler says that a name is defined twice; speaking of the second one as well would say it again.
fn forget_repeated(flow: &mut Flow) -> bool {
    let mut seen: Vec<(Ident, bool)> = Vec::new();
    let mut repeated = false;
    let mut first = |member: &Member| {
        let conditional = !member.cfgs.is_empty();
        let again = seen.iter().any(|(ident, cfg)| *ident == member.ident && !(*cfg && conditional));
        seen.push((member.ident.clone(), conditional));
        repeated |= again;
        !again
    };
    flow.handles.retain(|handle| first(&handle.member));
    flow.steps.retain(|step| first(&step.handler.member));
    flow.waits.retain(|wait| first(&wait.handler.member));
    flow.rpcs.retain(|rpc| first(&rpc.handler.member));
    repeated || handlers(flow).any(|handler| flow.others.contains(handler.ident()))
}

fn handlers(flow: &Flow) -> impl Iterator<Item = &Handler> {
    let steps = flow.steps.iter().map(|step| &step.handler);
    let waits = flow.waits.iter().map(|wait| &wait.handler);
    steps.chain(waits).chain(flow.rpcs.iter().map(|rpc| &rpc.handler))
}

// A run starts in one place with one input.
fn one_start(flow: &Flow, errors: &mut Diagnostics) {
    let mut starts = flow.steps.iter().filter_map(|step| Some((step, step.options.start?)));
    let Some((first, _)) = starts.next() else { return };
    for (second, start) in starts {
        if may_both_exist(&first.handler.member, &second.handler.member) {
            errors.error_at(
                start,
                format_args!(
                    "a flow has one start step, and `{}` is it: remove `start` here or there",
                    first.handler.ident()
                ),
            );
        }
    }
}

// The runtime starts them by itself, so there is nobody to choose one or to give an input.
fn one_step_for_each_end(flow: &Flow, errors: &mut Diagnostics) {
    for (entrance, word) in [(Entrance::Timeout, "on_timeout"), (Entrance::Cancel, "on_cancel")] {
        let mut steps = flow.entered(entrance);
        if let Some(first) = steps.next() {
            takes_no_input(first, word, errors);
            for second in steps {
                takes_no_input(second, word, errors);
                if may_both_exist(&first.handler.member, &second.handler.member) {
                    let message = format!(
                        "a flow has one `#[{word}]` step, and `{}` is it: make the other one a `#[step]`",
                        first.handler.ident()
                    );
                    errors.error(second.handler.ident(), message);
                }
            }
        }
    }
}

fn takes_no_input(step: &Step, word: &str, errors: &mut Diagnostics) {
    let Some(input) = step.handler.input() else { return };
    if !matches!(input, Type::Tuple(tuple) if tuple.elems.is_empty()) {
        let message = format!(
            "a `#[{word}]` step is started by the runtime, which has no input for it: remove this argument, \
             and read what it needs from attributes"
        );
        errors.error(input, message);
    }
}

/// Two members under a `cfg` each may exclude one another; the compiler knows, the macro does not.
fn may_both_exist(one: &Member, other: &Member) -> bool {
    one.cfgs.is_empty() || other.cfgs.is_empty()
}

// Stored runs and tools find a member by its name alone, without its kind.
fn stored_names_differ(flow: &Flow, errors: &mut Diagnostics) {
    let mut seen: Vec<(&str, &str, &Member)> = Vec::new();
    let names = named_members(flow).map(|(kind, member)| (kind, &member.name, member));
    let aliases =
        named_members(flow).filter_map(|(kind, member)| Some((kind, member.alias.as_ref()?, member)));
    for (kind, name, member) in names.chain(aliases) {
        let same = seen.iter().find(|(_, earlier, _)| *earlier == name.text);
        match same {
            Some((other, _, earlier)) if may_both_exist(earlier, member) => errors.error_at(
                name.span,
                format_args!(
                    "the stored name `{}` is taken by the {other} `{}`: give one of them another `name = \"…\"`",
                    name.text, earlier.ident
                ),
            ),
            _ => seen.push((kind, &name.text, member)),
        }
    }
}

fn named_members(flow: &Flow) -> impl Iterator<Item = (&'static str, &Member)> {
    let handles = flow.handles.iter().map(|handle| (handle.kind.word(), &handle.member));
    let steps = flow.steps.iter().map(|step| ("step", &step.handler.member));
    let rpcs = flow.rpcs.iter().map(|rpc| ("RPC", &rpc.handler.member));
    handles.chain(steps).chain(rpcs)
}

// A step's constant is an associated constant like any other: it cannot share its name with another item.
fn constants_are_free(flow: &mut Flow, errors: &mut Diagnostics) {
    let mut taken: Vec<(Ident, Vec<Attribute>)> = Vec::new();
    taken.extend(flow.handles.iter().map(|handle| (handle.member.ident.clone(), handle.member.cfgs.clone())));
    taken.extend(flow.others.iter().map(|ident| (ident.clone(), Vec::new())));
    taken.extend(handlers(flow).map(|handler| (handler.member.ident.clone(), handler.member.cfgs.clone())));
    for step in &mut flow.steps {
        let member = &step.handler.member;
        let Some(constant) = step.constant.clone() else { continue };
        let clash = taken
            .iter()
            .find(|(ident, cfgs)| ident.unraw() == constant && (cfgs.is_empty() || member.cfgs.is_empty()));
        if let Some((other, _)) = clash {
            errors.error(
                &member.ident,
                format_args!(
                    "step `{}` makes the constant `{constant}`, and `{other}` is there already: rename one",
                    member.ident
                ),
            );
            step.constant = None;
        } else {
            taken.push((constant, member.cfgs.clone()));
        }
    }
}

// A wait is part of its step: it is run with the step's input, and gives the step its outcome.
// Gives whether all of them found theirs.
fn waits_have_a_step(flow: &mut Flow, errors: &mut Diagnostics) -> bool {
    let mut all_found = true;
    for (place, wait) in flow.waits.iter().enumerate() {
        let cfgs = source_of(&wait.handler.member.cfgs);
        let mut named = flow.steps.iter().enumerate().filter(|(_, step)| *step.handler.ident() == wait.step);
        let same_cfg = named
            .clone()
            .find(|(_, step)| source_of(&step.handler.member.cfgs) == cfgs)
            .map(|(place, _)| place);
        let Some(found) = same_cfg.or_else(|| named.next().map(|(place, _)| place)) else {
            all_found = false;
            unknown_step(flow, &wait.step, errors);
            continue;
        };
        if same_cfg.is_none() {
            let message = "a `wait_for` and its step are one: give both the same `#[cfg(…)]`";
            errors.error(&wait.step, message);
        }
        let Some(step) = flow.steps.get_mut(found) else { continue };
        match step.wait.and_then(|earlier| flow.waits.get(earlier)) {
            Some(earlier) => errors.error(
                &wait.step,
                format_args!(
                    "step `{}` waits for `{}` already: a step has one `wait_for`; join conditions with `Wait::all` or `Wait::any`",
                    wait.step,
                    earlier.handler.ident()
                ),
            ),
            None => step.wait = Some(place),
        }
    }
    all_found
}

fn source_of(attrs: &[Attribute]) -> String {
    attrs.iter().map(|attr| source::text(&quote::ToTokens::to_token_stream(attr))).collect()
}

fn unknown_step(flow: &Flow, step: &Ident, errors: &mut Diagnostics) {
    if flow.lost.steps.contains(step) {
        return;
    }
    let written = step.unraw().to_string();
    let steps: Vec<String> = flow.steps.iter().map(|step| step.handler.ident().unraw().to_string()).collect();
    let near = suggest::did_you_mean(&written, &steps);
    let message = match steps.as_slice() {
        [] => format!("there is no step `{written}`: this flow has no `#[step]` methods"),
        [only] => format!("there is no step `{written}`{near}\nthe only step is `{only}`"),
        steps => format!("there is no step `{written}`{near}\nthe steps are {}", suggest::list(steps)),
    };
    errors.error(step, message);
}

// The second value is what the wait gives; without a wait nobody would give it.
fn outcome_comes_from_a_wait(step: &Step, errors: &mut Diagnostics) {
    let Some(outcome) = step.outcome() else { return };
    let member = step.handler.ident();
    if step.wait.is_none() {
        errors.error(
            outcome,
            format_args!(
                "step `{member}` takes the outcome of a wait but has none: add a `#[wait_for({member})]` method, or remove this argument"
            ),
        );
    }
}

fn recovery_exists(flow: &Flow, step: &Step, errors: &mut Diagnostics) {
    let Some(recovery) = &step.options.on_failure else { return };
    if !flow.steps.iter().any(|other| other.handler.ident() == recovery) {
        unknown_step(flow, recovery, errors);
    }
}
