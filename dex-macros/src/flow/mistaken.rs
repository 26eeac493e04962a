//! Mistakes in bodies that the compiler would tell at length, twice, or with advice that leads astray.
//!
//! A body with one is given back empty, so that it is told once and in these words.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, FnArg, LitStr, Pat, Signature, Token};

use super::graph::is_punct;
use super::signature::{self, Role};
use crate::names;

/// What only a `&mut` context can do.
const WRITES: &[&str] =
    &["set", "delete", "publish", "delete_message", "note", "start_step", "start_step_with", "cancel_step"];

/// What a decision begins with, and has a step as its first argument.
const MOVEMENTS: &[&str] = &["to", "to_with", "each", "each_with"];

/// The first such mistake in the body of a handler.
pub(super) fn in_body(role: Role, sig: &Signature, body: &TokenStream) -> Option<Error> {
    writes_through_shared(role, sig, body).or_else(|| in_a_call(body))
}

// The compiler advises to write a type into the type.
fn writes_through_shared(role: Role, sig: &Signature, body: &TokenStream) -> Option<Error> {
    let context = shared_context(sig)?;
    let mut uses = Vec::new();
    collect_uses(&context, body, &mut uses);
    // Anything but a method call may give the name another meaning, such as `let ctx = …`.
    let mut methods = uses.into_iter().collect::<Option<Vec<_>>>()?.into_iter();
    let (written, method) = methods.find(|(_, method)| WRITES.iter().any(|word| method == word))?;
    let right = role.context();
    let message = format!(
        "`{context}.{method}` writes, and a `&{right}` only reads: take `{context}: &mut {right}<Self>`"
    );
    Some(Error::new_spanned(written, message))
}

/// The name of the handler's context, if it is `&…`.
fn shared_context(sig: &Signature) -> Option<Ident> {
    sig.inputs.iter().find_map(|input| {
        let FnArg::Typed(argument) = input else { return None };
        let context = signature::as_context(&argument.ty)?;
        match &*argument.pat {
            Pat::Ident(pattern) if !context.mutable => Some(pattern.ident.clone()),
            _ => None,
        }
    })
}

/// `ctx.method` and the method, for a use that is a method call.
type Use = Option<(TokenStream, Ident)>;

fn collect_uses(context: &Ident, tokens: &TokenStream, uses: &mut Vec<Use>) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => collect_uses(context, &group.stream(), uses),
            TokenTree::Ident(ident) if ident == context => {
                let called = match tokens.get(place + 1..) {
                    Some([TokenTree::Punct(dot), TokenTree::Ident(method), ..]) if dot.as_char() == '.' => {
                        let written = [token.clone(), dot.clone().into(), method.clone().into()];
                        Some((written.into_iter().collect(), method.clone()))
                    }
                    _ => None,
                };
                uses.push(called);
            }
            _ => {}
        }
    }
}

/// A mistake in the arguments of `Wait::…(…)` or `Next::…(…)`.
fn in_a_call(tokens: &TokenStream) -> Option<Error> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let here = tokens.windows(5).enumerate().find_map(|(place, call)| match call {
        [TokenTree::Ident(ty), first, second, TokenTree::Ident(word), TokenTree::Group(arguments)]
            if is_punct(first, ':') && is_punct(second, ':') && !is_of_others(tokens.get(..place)?) =>
        {
            let (word, arguments) = (word.to_string(), arguments.stream());
            match ty.to_string().as_str() {
                "Wait" => too_many(&word, &arguments),
                "Next" => by_a_text(&word, arguments),
                _ => None,
            }
        }
        _ => None,
    });
    here.or_else(|| {
        tokens.iter().find_map(|token| match token {
            TokenTree::Group(group) => in_a_call(&group.stream()),
            _ => None,
        })
    })
}

/// Whether the path that these tokens begin leads into something else than dex.
fn is_of_others(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(module), first, second] if is_punct(first, ':') && is_punct(second, ':') => {
            module != "dex"
        }
        _ => false,
    }
}

// `Next::to("ship", …)`: the compiler would say which type it wants, but not how to write it.
fn by_a_text(word: &str, arguments: TokenStream) -> Option<Error> {
    if !MOVEMENTS.contains(&word) {
        return None;
    }
    let literal: LitStr = syn::parse2(arguments.into_iter().next()?.into()).ok()?;
    let constant = literal.parse().ok().and_then(|method| names::constant(&method));
    let right = constant.map_or_else(|| "Self::NAME".to_owned(), |constant| format!("Self::{constant}"));
    let message = format!("a step is named by its constant: write `{right}`");
    Some(Error::new_spanned(literal, message))
}

// `Wait::any(a, b)`: the compiler would have `b` removed, and then say that `a` is no set.
fn too_many(word: &str, arguments: &TokenStream) -> Option<Error> {
    let several = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(arguments.clone()).ok()?.len() > 1;
    let message = match word {
        "any" | "all" if several => {
            format!(
                "`Wait::{word}` takes one argument: put the conditions in a tuple, `Wait::{word}((a, b))`"
            )
        }
        "one" if several => {
            "`Wait::one` is for one condition: for several write `Wait::any((a, b))` or `Wait::all((a, b))`"
                .to_owned()
        }
        _ => return None,
    };
    Some(Error::new_spanned(arguments.to_token_stream(), message))
}
