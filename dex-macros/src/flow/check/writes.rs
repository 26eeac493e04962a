//! Writes of attributes that other steps lock.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;

use super::bodies::{is_any, is_gone_to};
use crate::diagnostics::Diagnostics;
use crate::flow::graph::is_punct;
use crate::flow::model::{Entrance, Flow, Step};

// Who locks an attribute reads it and writes it back; what is written meanwhile would be lost without a word.
pub(super) fn hold_their_lock(flow: &Flow, step: &Step, errors: &mut Diagnostics) {
    for (attribute, holder) in without_their_lock(flow, step) {
        if step.options.no_locks.contains(&attribute) {
            continue;
        }
        errors.error(
            &attribute,
            format_args!(
                "step `{}` locks `{attribute}` against other writers: add `lock({attribute})` to this step, \
                 or `no_lock({attribute})` if this write may be lost",
                holder.handler.ident()
            ),
        );
    }
}

// A `no_lock` that is left from earlier would hide the mistake that is made later.
pub(super) fn lack_a_lock_as_said(flow: &Flow, step: &Step, errors: &mut Diagnostics) {
    let without = without_their_lock(flow, step);
    for said in &step.options.no_locks {
        if !without.iter().any(|(attribute, _)| attribute == said) {
            errors.error(
                said,
                format_args!(
                    "this step writes no `{said}` without a lock that another step takes: remove it"
                ),
            );
        }
    }
}

/// Each attribute that the step writes and others lock, and one of those others.
fn without_their_lock<'a>(flow: &'a Flow, step: &Step) -> Vec<(Ident, &'a Step)> {
    if !runs_beside_others(flow, step) {
        return Vec::new();
    }
    let mut written = Vec::new();
    collect_written(&step.handler.body, &mut written);
    written.retain(|attribute| !step.options.locks.contains(attribute));
    let held = |attribute: Ident| {
        let holder = flow.steps.iter().find(|other| other.options.locks.contains(&attribute))?;
        Some((attribute, holder))
    };
    written.into_iter().filter_map(held).collect()
}

// The first step meets nobody, and those that end a run must not wait for what may hang.
fn runs_beside_others(flow: &Flow, step: &Step) -> bool {
    let ends = matches!(step.options.entrance, Some(Entrance::Timeout | Entrance::Cancel));
    if ends || step.options.start.is_some() {
        return false;
    }
    // One that nobody goes to is most likely the first one without its mark, which is told by itself.
    let recovers = |other: &Step| other.options.on_failure.as_ref() == Some(step.handler.ident());
    step.options.entrance.is_some() || is_gone_to(flow, step) || flow.steps.iter().any(recovers)
}

/// Every `X` of `.set(Self::X, …)` and `.delete(Self::X.at(…))`.
fn collect_written(tokens: &TokenStream, written: &mut Vec<Ident>) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for call in tokens.windows(3) {
        if let [dot, method, TokenTree::Group(arguments)] = call
            && is_punct(dot, '.')
            && is_any(method, &["set", "delete"])
        {
            written.extend(own_constant(arguments.stream()));
        }
    }
    for token in &tokens {
        if let TokenTree::Group(group) = token {
            collect_written(&group.stream(), written);
        }
    }
}

/// The `X` if the tokens begin with `Self::X`, which may be borrowed: as an entry of a map, `&Self::X.at(…)`.
fn own_constant(arguments: TokenStream) -> Option<Ident> {
    let mut tokens = arguments.into_iter().skip_while(|token| is_punct(token, '&'));
    let is_path = tokens.next().is_some_and(|token| is_any(&token, &["Self"]))
        && tokens.next().is_some_and(|token| is_punct(&token, ':'))
        && tokens.next().is_some_and(|token| is_punct(&token, ':'));
    match tokens.next() {
        Some(TokenTree::Ident(ident)) if is_path => Some(ident.unraw()),
        _ => None,
    }
}
