//! The flow's own run handle, with a method for each RPC.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Pat;
use syn::ext::IdentExt as _;

use super::rpcs;
use crate::flow::model::{Argument, Flow, Rpc};
use crate::names::generated;

/// `OrderFlowRun`.
pub(super) fn name(flow: &Flow) -> Ident {
    format_ident!("{}Run", flow.ident.unraw())
}

/// The struct, its conversions and its methods.
pub(super) fn run_type(flow: &Flow) -> TokenStream {
    let private = flow.krate.private();
    let (self_ty, run) = (&flow.self_ty, name(flow));
    let text = run.to_string();
    let docs = format!("A run of the flow `{}`.", flow.ident);
    let methods = flow.rpcs.iter().enumerate().map(|(place, rpc)| method(flow, place, rpc));
    // Generic, so that it is as visible as the flow: an `impl` block does not show whether its type is public,
    // and a public run of a private flow may not name the flow in its associated types.
    quote! {
        #[doc = #docs]
        pub struct #run<F>(#private::RunHandle<F>);

        #[automatically_derived]
        impl<F> ::core::convert::From<#private::RunHandle<F>> for #run<F> {
            fn from(run: #private::RunHandle<F>) -> Self {
                Self(run)
            }
        }

        #[automatically_derived]
        impl<F> ::core::ops::Deref for #run<F> {
            type Target = #private::RunHandle<F>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        #[automatically_derived]
        impl<F> ::core::clone::Clone for #run<F> {
            fn clone(&self) -> Self {
                Self(::core::clone::Clone::clone(&self.0))
            }
        }

        #[automatically_derived]
        impl<F> ::core::fmt::Debug for #run<F> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_tuple(#text).field(&self.0).finish()
            }
        }

        impl #run<#self_ty> {
            #(#methods)*
        }
    }
}

fn method(flow: &Flow, place: usize, rpc: &Rpc) -> TokenStream {
    let private = flow.krate.private();
    let member = &rpc.handler.member;
    let (cfgs, docs, text, self_ty) = (&member.cfgs, &member.doc_attrs, &member.name.text, &flow.self_ty);
    let vis = super::generated_vis(&member.vis);
    let method = generated(&member.ident);
    let answer = rpcs::answer(flow, rpc);
    let (parameter, argument) = match rpc.handler.values.first() {
        None => (quote!(), quote!(())),
        Some(input) => {
            let (name, ty) = (parameter(input), super::without_self(flow, &input.ty));
            (quote!(#name: #ty), quote!(#name))
        }
    };
    quote! {
        #(#cfgs)*
        #(#docs)*
        #[allow(dead_code, reason = "an RPC need not be called from here")]
        #vis async fn #method(&self, #parameter) -> #private::Result<#answer> {
            #private::call_rpc::<#self_ty, #place>(&self.0, #text, &#argument).await
        }
    }
}

/// The argument's own name if it has one.
fn parameter(input: &Argument) -> Ident {
    match &input.pattern {
        Pat::Ident(pattern) => generated(&pattern.ident),
        _ => format_ident!("input"),
    }
}
