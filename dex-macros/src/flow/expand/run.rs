//! The flow's own run handle, with a method for each RPC.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Pat;
use syn::ext::IdentExt as _;

use super::rpcs;
use crate::flow::model::{Argument, Flow, Rpc};
use crate::names::{generated, generated_at};

/// `OrderFlowRun`.
pub(super) fn name(flow: &Flow) -> Ident {
    format_ident!("{}Run", flow.ident.unraw(), span = generated_at(flow.ident.span()))
}

/// The struct, its conversions and its methods.
///
/// It is generic over the flow, though there is only one, so that it is as private as the flow is: the
/// compiler takes the visibility of an implementation from all types that it names.
pub(super) fn run_type(flow: &Flow) -> TokenStream {
    let private = flow.krate.private();
    let (self_ty, run) = (&flow.self_ty, name(flow));
    let text = run.to_string();
    let docs = format!("A run of the flow `{}`.", flow.ident);
    let methods = flow.rpcs.iter().enumerate().map(|(place, rpc)| method(flow, place, rpc));
    quote! {
        #[doc = #docs]
        pub struct #run<F>(#private::RunHandle<F>);

        #[automatically_derived]
        impl ::core::convert::From<#private::RunHandle<#self_ty>> for #run<#self_ty> {
            fn from(run: #private::RunHandle<#self_ty>) -> Self {
                Self(run)
            }
        }

        #[automatically_derived]
        impl ::core::ops::Deref for #run<#self_ty> {
            type Target = #private::RunHandle<#self_ty>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        #[automatically_derived]
        impl ::core::clone::Clone for #run<#self_ty> {
            fn clone(&self) -> Self {
                Self(::core::clone::Clone::clone(&self.0))
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Debug for #run<#self_ty> {
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
    // Errors about the answer's type are then at one place and told once.
    let at = rpcs::place(rpc);
    let private = flow.krate.private_at(at);
    let member = &rpc.handler.member;
    let (cfgs, text) = (&member.cfgs, &member.name.text);
    let docs = super::docs(member, "Calls the RPC");
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
    quote_spanned! {at=>
        #(#cfgs)*
        #docs
        #[allow(dead_code, reason = "an RPC need not be called from here")]
        #vis async fn #method(&self, #parameter) -> #private::Result<#answer> {
            #private::call_rpc::<__DexRpc<#place>>(&self.0, #text, &#argument).await
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
