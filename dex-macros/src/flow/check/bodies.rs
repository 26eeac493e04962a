//! What stands in bodies and cannot mean what its writer hopes, as far as the tokens show it.
//!
//! Bodies are only read: a helper that hides such a mistake from here meets the runtime's answer instead.

use proc_macro2::{Ident, TokenStream, TokenTree};

use super::paths::{is_unfinished, names};
use super::writes;
use crate::diagnostics::Diagnostics;
use crate::flow::graph::{self, is_punct};
use crate::flow::model::{Entrance, Flow, Step};

/// What ends a branch, so that nothing can be added to it.
const ENDS: &[&str] = &["complete", "complete_now", "fail", "dead_end"];

/// The methods of a context that are signs of life.
const SIGNS_OF_LIFE: &[&str] = &["heartbeat", "checkpoint", "append", "text"];

/// Checks all bodies. Each is judged by itself: nobody is told about one that is still being written.
pub(crate) fn mean_something(flow: &Flow, errors: &mut Diagnostics) {
    let finished = || flow.steps.iter().filter(|step| !is_unfinished(&step.handler.body));
    for step in finished() {
        signs_of_life_are_given(flow, step, errors);
        siblings_exist(flow, step, errors);
        writes::hold_their_lock(flow, step, errors);
        nothing_follows_an_end(&step.handler.body, errors);
    }
    nothing_follows_an_end(&flow.others_tokens, errors);
    if errors.is_empty() {
        // What is wrong elsewhere may be why it seems needless.
        for step in finished() {
            writes::lack_a_lock_as_said(flow, step, errors);
        }
    }
}

// Every attempt that takes longer would fail, and only when it is run would anybody see why. What the flow gives all
// its steps is not meant for this one in particular, which may be short.
fn signs_of_life_are_given(flow: &Flow, step: &Step, errors: &mut Diagnostics) {
    let Some(heartbeat) = step.options.heartbeat.filter(|heartbeat| heartbeat.value.is_some()) else {
        return;
    };
    if flow.defaults.heartbeat.is_some_and(|of_all| of_all.value == heartbeat.value) {
        return;
    }
    let body = &step.handler.body;
    let context = step.handler.context.as_ref().and_then(|context| context.ident.as_ref());
    let is_given = context.is_some_and(|ident| names(body, SIGNS_OF_LIFE) || is_passed_on(body, ident));
    if !is_given {
        errors.error_at(
            heartbeat.span,
            "this step never gives a sign of life, so all its attempts would fail: take `ctx: &mut StepContext<Self>` and call `ctx.heartbeat()`, or leave `heartbeat` out",
        );
    }
}

/// Whether `ident` stands somewhere without a method of its own after it, so that others may call one.
fn is_passed_on(tokens: &TokenStream, ident: &Ident) -> bool {
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_here = match &token {
            TokenTree::Ident(other) => {
                other == ident && !tokens.peek().is_some_and(|next| is_punct(next, '.'))
            }
            TokenTree::Group(group) => is_passed_on(&group.stream(), ident),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        if is_here {
            return true;
        }
    }
    false
}

// The runtime starts such a step by itself, so it has none unless the flow also goes to it.
fn siblings_exist(flow: &Flow, step: &Step, errors: &mut Diagnostics) {
    let word = match step.options.entrance {
        Some(Entrance::Timeout) => "on_timeout",
        Some(Entrance::Cancel) => "on_cancel",
        Some(Entrance::Elsewhere) | None => return,
    };
    if is_gone_to(flow, step) {
        return;
    }
    for siblings in found(&step.handler.body, "cancel_siblings") {
        errors.error(
            siblings,
            format_args!(
                "a `#[{word}]` step is started by the runtime, so it has no siblings: write `.cancel(…)`, which ends all executions of a step"
            ),
        );
    }
}

/// Whether a body names the step.
pub(super) fn is_gone_to(flow: &Flow, step: &Step) -> bool {
    all_bodies(flow).any(|body| graph::steps_named(flow, body).iter().any(|named| std::ptr::eq(*named, step)))
}

fn all_bodies(flow: &Flow) -> impl Iterator<Item = &TokenStream> {
    let steps = flow.steps.iter().map(|step| &step.handler.body);
    steps.chain(flow.rpcs.iter().map(|rpc| &rpc.handler.body)).chain([&flow.others_tokens])
}

// Such a decision contradicts itself; the runtime could only park the step.
fn nothing_follows_an_end(tokens: &TokenStream, errors: &mut Diagnostics) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut rest = tokens.as_slice();
    while let [first, after @ ..] = rest {
        if let TokenTree::Group(group) = first {
            nothing_follows_an_end(&group.stream(), errors);
        }
        if let Some((end, and)) = added_to_an_end(rest) {
            errors.error(
                and,
                format_args!(
                    "`Next::{end}` ends this branch, so nothing can be added to it: `.and(…)` goes with `Next::to` and `Next::each`"
                ),
            );
        }
        rest = after;
    }
}

/// The word and the `and` if the tokens begin with `Next::complete(…)` or its like, to which something is added.
fn added_to_an_end(tokens: &[TokenTree]) -> Option<(&Ident, &Ident)> {
    let [next, first, second, TokenTree::Ident(end), TokenTree::Group(_), calls @ ..] = tokens else {
        return None;
    };
    let is_path = is_any(next, &["Next"]) && is_punct(first, ':') && is_punct(second, ':');
    let is_end = is_path && ENDS.iter().any(|word| end == word);
    added(calls).filter(|_| is_end).map(|and| (end, and))
}

/// The `and` in a row of method calls.
fn added(mut calls: &[TokenTree]) -> Option<&Ident> {
    while let [dot, TokenTree::Ident(method), TokenTree::Group(_), rest @ ..] = calls {
        if !is_punct(dot, '.') {
            return None;
        }
        if method == "and" {
            return Some(method);
        }
        calls = rest;
    }
    None
}

/// Every identifier `word`, at any depth.
fn found(tokens: &TokenStream, word: &str) -> Vec<Ident> {
    let inside = |token| match token {
        TokenTree::Ident(ident) if ident == word => vec![ident],
        TokenTree::Group(group) => found(&group.stream(), word),
        _ => Vec::new(),
    };
    tokens.clone().into_iter().flat_map(inside).collect()
}

pub(super) fn is_any(token: &TokenTree, words: &[&str]) -> bool {
    matches!(token, TokenTree::Ident(ident) if words.iter().any(|word| ident == word))
}
