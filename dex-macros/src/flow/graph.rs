//! The edges between steps: an edge wherever a body names a step's constant.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;

use super::model::{Flow, Step};

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
