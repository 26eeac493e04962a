//! What bodies name: an edge wherever one names a step's constant, a sub-flow wherever one names its type.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;

use super::model::{Flow, Step};
use crate::source;

/// The steps whose constants `body` names, in the flow's order, each once.
///
/// Bodies are tokens, so `Self::SHIP` is seen in closures and macro calls as well.
pub(super) fn steps_named<'a>(flow: &'a Flow, body: &TokenStream) -> Vec<&'a Step> {
    let mut named = Vec::new();
    collect(&flow.ident, body, &mut named);
    let is_named = |step: &&Step| step.constant.as_ref().is_some_and(|constant| named.contains(constant));
    flow.steps.iter().filter(is_named).collect()
}

/// Every `X` of `Self::X` and `FlowType::X`.
fn collect(flow: &Ident, tokens: &TokenStream, named: &mut Vec<Ident>) {
    // How much of `Self ::` has been seen: 1 the type, 2 and 3 the colons.
    let mut seen = 0;
    for token in tokens.clone() {
        seen = match (token, seen) {
            (TokenTree::Group(group), _) => {
                collect(flow, &group.stream(), named);
                0
            }
            (TokenTree::Punct(punct), 1 | 2) if punct.as_char() == ':' => seen + 1,
            (TokenTree::Ident(ident), 3) => {
                named.push(ident.unraw());
                0
            }
            (TokenTree::Ident(ident), _) if ident == "Self" || ident == *flow => 1,
            _ => 0,
        };
    }
}

/// Every `G` of `SubFlow<G>`, or of another `word`, as written, each once.
pub(super) fn flows_named(flow: &Flow, word: &str, tokens: &TokenStream) -> Vec<String> {
    let mut arguments = Vec::new();
    collect_arguments(word, tokens, &mut arguments);
    let mut named: Vec<String> = Vec::new();
    for argument in arguments {
        let text = if argument == "Self" { flow.ident.unraw().to_string() } else { argument };
        // `_` and parameters of macros are for the compiler to find out.
        if text != "_" && !text.contains('$') && !named.contains(&text) {
            named.push(text);
        }
    }
    named
}

fn collect_arguments(word: &str, tokens: &TokenStream, arguments: &mut Vec<String>) {
    let mut rest = tokens.clone().into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Group(group) => collect_arguments(word, &group.stream(), arguments),
            TokenTree::Ident(ident) if ident == word => {
                while rest.next_if(|token| is_punct(token, ':')).is_some() {}
                if rest.next_if(|token| is_punct(token, '<')).is_some() {
                    arguments.push(source::text(&until_closed(&mut rest)));
                }
            }
            _ => {}
        }
    }
}

/// The tokens up to the `>` of a `<` that has been read. That of `->` is none.
fn until_closed(tokens: &mut impl Iterator<Item = TokenTree>) -> TokenStream {
    let (mut open, mut after_dash) = (1_usize, false);
    tokens
        .take_while(|token| {
            if is_punct(token, '<') {
                open += 1;
            } else if is_punct(token, '>') && !after_dash {
                open -= 1;
            }
            after_dash = is_punct(token, '-');
            open > 0
        })
        .collect()
}

pub(super) fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(other) if other.as_char() == punct)
}
