//! The paths through a flow, as far as its tokens show them: whether they lead to every step and to an end.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt as _;

use crate::diagnostics::Diagnostics;
use crate::flow::graph;
use crate::flow::model::{Flow, Step};

/// What ends a run.
const ENDS: &[&str] = &["complete", "complete_now", "complete_if_empty", "fail"];

/// What stands in a body that is still to be written. It may lead anywhere.
const UNFINISHED: &[&str] = &["todo", "unimplemented"];

/// Checks both. A flow with an unfinished body may become right, so it is left alone.
pub(crate) fn lead_everywhere(flow: &Flow, errors: &mut Diagnostics) {
    if !flow.lost.perhaps_marks.is_empty() || bodies(flow).any(|body| goes_to_an_unknown(flow, body)) {
        // The compiler will say so; whatever seems to be missing may be what was meant.
        return;
    }
    let mut found = Diagnostics::default();
    every_step_is_reached(flow, &mut found);
    a_path_completes(flow, &mut found);
    // Bodies are read for those only who may have to be told something.
    if !found.is_empty() && !flow.steps.iter().any(|step| is_unfinished(&step.handler.body)) {
        errors.extend(found);
    }
}

/// Everything in the block in which a decision may be made.
fn bodies(flow: &Flow) -> impl Iterator<Item = &TokenStream> {
    let steps = flow.steps.iter().map(|step| &step.handler.body);
    steps.chain(flow.rpcs.iter().map(|rpc| &rpc.handler.body)).chain([&flow.others_tokens])
}

/// Whether somebody is still writing it: it says so, it is empty, or it is no block yet.
pub(super) fn is_unfinished(body: &TokenStream) -> bool {
    let block = syn::parse2::<syn::Block>(body.clone());
    names(body, UNFINISHED) || block.map_or(true, |block| block.stmts.is_empty())
}

// Such a step is dead code, and most likely a `Next::to` was forgotten.
fn every_step_is_reached(flow: &Flow, errors: &mut Diagnostics) {
    let mut reached: Vec<bool> = flow.steps.iter().map(is_entrance).collect();
    let outside = flow.rpcs.iter().map(|rpc| &rpc.handler.body).chain([&flow.others_tokens]);
    outside.for_each(|body| mark(flow, body, &mut reached));
    spread(flow, &mut reached);
    if count(&reached) == 0 {
        nothing_begins(flow, errors);
        return;
    }
    while let Some(step) = first_unreached(flow, &reached) {
        errors.error(step.handler.ident(), not_reached(step));
        // What only it leads to is not another mistake.
        mark_those(flow, &mut reached, |other| std::ptr::eq(other, step));
        spread(flow, &mut reached);
    }
}

// One mistake, however many steps would follow from the first one.
fn nothing_begins(flow: &Flow, errors: &mut Diagnostics) {
    let Some(first) = flow.steps.first() else { return };
    errors.error(
        first.handler.ident(),
        "no path leads to any step of this flow: mark the one that a run starts with `#[step(start)]`, or `#[step(entry)]` if it is entered in a way that this block does not show",
    );
}

/// The first step that is not reached, better one to which no other leads.
fn first_unreached<'a>(flow: &'a Flow, reached: &[bool]) -> Option<&'a Step> {
    let unreached = || flow.steps.iter().zip(reached).filter(|(_, reached)| !**reached).map(|(step, _)| step);
    let leads_to = |from: &Step, to: &Step| {
        let named = graph::steps_named(flow, &from.handler.body);
        let recovery =
            from.options.on_failure.as_ref().is_some_and(|recovery| recovery == to.handler.ident());
        recovery || named.iter().any(|named| std::ptr::eq(*named, to))
    };
    let is_root =
        |step: &&Step| unreached().all(|other| std::ptr::eq(other, *step) || !leads_to(other, step));
    unreached().find(is_root).or_else(|| unreached().next())
}

fn not_reached(step: &Step) -> String {
    let (ident, constant) = (step.handler.ident(), step.constant.as_ref());
    let how = constant.map(|constant| format!("go to it with `Next::to(Self::{constant}, …)`, "));
    format!(
        "no path leads to step `{ident}`: {}or mark it `#[step(entry)]` if it is entered in a way that this block does not show",
        how.unwrap_or_default()
    )
}

/// Marks all that reached steps lead to.
fn spread(flow: &Flow, reached: &mut [bool]) {
    let mut before = 0;
    while count(reached) > before {
        before = count(reached);
        for (place, step) in flow.steps.iter().enumerate() {
            if reached.get(place) == Some(&true) {
                mark(flow, &step.handler.body, reached);
                mark_recovery(flow, step, reached);
            }
        }
    }
}

fn is_entrance(step: &Step) -> bool {
    step.options.start.is_some() || step.options.entrance.is_some()
}

fn count(reached: &[bool]) -> usize {
    reached.iter().filter(|reached| **reached).count()
}

fn mark(flow: &Flow, body: &TokenStream, reached: &mut [bool]) {
    let named = graph::steps_named(flow, body);
    mark_those(flow, reached, |step| named.iter().any(|named| std::ptr::eq(*named, step)));
}

fn mark_recovery(flow: &Flow, step: &Step, reached: &mut [bool]) {
    let Some(recovery) = &step.options.on_failure else { return };
    mark_those(flow, reached, |step| step.handler.ident() == recovery);
}

fn mark_those(flow: &Flow, reached: &mut [bool], which: impl Fn(&Step) -> bool) {
    for (step, reached) in flow.steps.iter().zip(reached) {
        *reached |= which(step);
    }
}

// Whoever waits for such a run waits for ever.
fn a_path_completes(flow: &Flow, errors: &mut Diagnostics) {
    if flow.endless || flow.steps.is_empty() || bodies(flow).any(|body| names(body, ENDS)) {
        return;
    }
    errors.error(
        &flow.ident,
        "no step of this flow ends its run: end a path with `Next::complete(…)`, or say that it is meant to go on with `#[flow(endless)]`",
    );
}

/// What has a step as its first argument.
const MOVEMENTS: &[&str] = &[
    "to",
    "to_with",
    "each",
    "each_with",
    "and",
    "and_with",
    "or_to",
    "or_to_with",
    "start_step",
    "start_step_with",
];

/// Whether a decision names a step by a text, by its method, or by a constant that the block does not have.
fn goes_to_an_unknown(flow: &Flow, tokens: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_movement = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(word), TokenTree::Group(arguments)]
            if MOVEMENTS.iter().any(|other| word == other) =>
        {
            is_unknown(flow, arguments.stream())
        }
        _ => false,
    };
    tokens.windows(2).any(is_movement)
        || tokens.iter().any(
            |token| matches!(token, TokenTree::Group(group) if goes_to_an_unknown(flow, &group.stream())),
        )
}

fn is_unknown(flow: &Flow, arguments: TokenStream) -> bool {
    let mut arguments = arguments.into_iter();
    match arguments.next() {
        Some(TokenTree::Literal(_)) => true,
        Some(TokenTree::Ident(ty)) if ty == "Self" || ty == flow.ident => {
            let Some(TokenTree::Ident(named)) = arguments.nth(2) else { return false };
            let named = named.unraw();
            let mut known = flow.steps.iter().filter_map(|step| step.constant.as_ref()).chain(&flow.others);
            !known.any(|constant| constant.unraw() == named)
        }
        _ => false,
    }
}

/// Whether one of `words` stands anywhere in `tokens`.
pub(super) fn names(tokens: &TokenStream, words: &[&str]) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => words.iter().any(|word| ident == word),
        TokenTree::Group(group) => names(&group.stream(), words),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
