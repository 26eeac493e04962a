//! The types of the RPCs, said once: the run handle and the calls both refer to them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, ReturnType, Type};

use super::Soundness;
use crate::attributes;
use crate::flow::model::{Flow, Rpc};

/// `impl Rpc<0> for F`, for each RPC.
pub(super) fn types(flow: &Flow, _soundness: Soundness) -> TokenStream {
    let private = flow.krate.private();
    let self_ty = &flow.self_ty;
    let types = flow.rpcs.iter().enumerate().map(|(place, rpc)| {
        let cfgs = &rpc.handler.member.cfgs;
        let input = rpc.handler.input().cloned().unwrap_or_else(attributes::unit);
        let answer = answer(flow, rpc);
        quote! {
            #(#cfgs)*
            #[automatically_derived]
            impl #private::Rpc<#place> for #self_ty {
                type Input = #input;
                type Answer = #answer;
            }
        }
    });
    quote!(#(#types)*)
}

/// The type of the answer, in words that hold outside the block.
pub(super) fn answer(flow: &Flow, rpc: &Rpc) -> TokenStream {
    let private = flow.krate.private();
    let returned = returned(rpc);
    match written_answer(&returned) {
        Some(answer) => super::without_self(flow, answer),
        // An alias: only the compiler knows what it stands for.
        None => {
            let returned = super::without_self(flow, &returned);
            quote!(<#returned as #private::RpcReturn>::Answer)
        }
    }
}

/// The type of the answer as a person would say it.
pub(super) fn answer_text(rpc: &Rpc) -> String {
    let returned = returned(rpc);
    let answer = written_answer(&returned).unwrap_or(&returned);
    crate::source::text(&answer.to_token_stream())
}

fn returned(rpc: &Rpc) -> Type {
    match &rpc.handler.returns {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => attributes::unit(),
    }
}

/// The `T` of `RpcResult<T>`.
fn written_answer(returned: &Type) -> Option<&Type> {
    let Type::Path(path) = returned else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "RpcResult")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(answer)) if arguments.args.len() == 1 => Some(answer),
        _ => None,
    }
}
