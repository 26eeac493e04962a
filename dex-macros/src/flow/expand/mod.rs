//! From the model to tokens, one file for each thing that is generated.
//!
//! Generated code names `dex::__private` and `core` and nothing else. Types stand in it with the user's
//! own tokens, so that the compiler's errors about them are shown where the user wrote them.

mod calls;
mod checks;
mod definition;
mod rpcs;
mod run;
mod schemas;
mod steps;
mod values;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Visibility;
use syn::ext::IdentExt as _;

use super::model::{Flow, Member};
use crate::names::generated_at;

/// Whether the model has no mistakes.
///
/// From an unsound one comes a flow with all types and constants that are known, which cannot be run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Soundness {
    Sound,
    Unsound,
}

/// All that stands beside the user's block.
pub(super) fn flow(flow: &Flow, soundness: Soundness) -> TokenStream {
    let constants = steps::constants(flow);
    let run = run::run_type(flow);
    let rpcs = rpcs::types(flow);
    let implementation = implementation(flow, soundness);
    let starts = steps::starts(flow);
    let checks = match soundness {
        Soundness::Sound => checks::all(flow),
        Soundness::Unsound => TokenStream::new(),
    };
    let cfgs = &flow.cfgs;
    quote! {
        #constants
        #(#cfgs)*
        const _: () = {
            #run
            #rpcs
            #implementation
            #starts
            #checks
        };
    }
}

fn implementation(flow: &Flow, soundness: Soundness) -> TokenStream {
    let private = flow.krate.private();
    let (self_ty, output) = (&flow.self_ty, &flow.output);
    let run = run::name(flow);
    let input = steps::start_input(flow);
    let definition = definition::flow(flow);
    let (calls, values, schemas) = match soundness {
        Soundness::Sound => (calls::all(flow), values::all(flow), schemas::method(flow)),
        Soundness::Unsound => (calls::none(flow), values::none(flow), TokenStream::new()),
    };
    quote! {
        #[automatically_derived]
        impl #private::Flow for #self_ty {
            #input
            type Output = #output;
            type Run = #run<Self>;

            fn definition() -> &'static #private::FlowDefinition {
                static DEFINITION: #private::FlowDefinition = #definition;
                &DEFINITION
            }

            #schemas

            #calls

            #values
        }
    }
}

/// The user's doc comment, or a line for those who ask for documentation on everything.
fn docs(member: &Member, what: &str) -> TokenStream {
    let docs = &member.doc_attrs;
    if docs.is_empty() {
        let line = format!("{what} `{}`.", member.ident.unraw());
        return quote!(#[doc = #line]);
    }
    quote!(#(#docs)*)
}

/// The visibility for generated code; see [`generated_at`].
fn generated_vis(vis: &Visibility) -> TokenStream {
    respanned(vis.to_token_stream(), &|token| generated_at(token.span()))
}

fn respanned(tokens: TokenStream, place: &dyn Fn(&TokenTree) -> Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        let span = place(&token);
        if let TokenTree::Group(group) = token {
            token = Group::new(group.delimiter(), respanned(group.stream(), place)).into();
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(respan).collect()
}

/// Generated tokens that stand for `user`: an error about them underlines all of it.
fn in_place_of(user: &impl ToTokens, generated: TokenStream) -> TokenStream {
    let mut tokens = user.to_token_stream().into_iter();
    let Some(first) = tokens.next().map(|token| token.span()) else { return generated };
    let last = tokens.last().map_or(first, |token| token.span());
    let count = generated.clone().into_iter().count();
    let place = |(at, mut token): (usize, TokenTree)| {
        token.set_span(if at + 1 == count { last } else { first });
        token
    };
    generated.into_iter().enumerate().map(place).collect()
}

/// The type outside the block, where `Self` means something else or nothing.
fn without_self(flow: &Flow, ty: &impl ToTokens) -> TokenStream {
    fn replace(tokens: TokenStream, with: &TokenStream) -> TokenStream {
        tokens
            .into_iter()
            .flat_map(|token| match token {
                TokenTree::Ident(ident) if ident == "Self" => with.clone(),
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), replace(group.stream(), with));
                    inner.set_span(group.span());
                    TokenTree::from(inner).into()
                }
                other => other.into(),
            })
            .collect()
    }
    replace(ty.to_token_stream(), &flow.self_ty.to_token_stream())
}
