//! The types of the RPCs, said once: the run handle and the calls both refer to them.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{ReturnType, Type};

use crate::attributes;
use crate::flow::model::{Flow, Rpc};
use crate::names::generated_at;

/// `impl Rpc for __DexRpc<0>`, for each RPC.
///
/// The types are those of a private struct, not of the flow: an RPC may be more private than its flow.
pub(super) fn types(flow: &Flow) -> TokenStream {
    if flow.rpcs.is_empty() {
        return TokenStream::new();
    }
    let private = flow.krate.private();
    let self_ty = &flow.self_ty;
    let types = flow.rpcs.iter().enumerate().map(|(place, rpc)| {
        let cfgs = &rpc.handler.member.cfgs;
        let input = rpc.handler.input().cloned().unwrap_or_else(attributes::unit);
        let (input, answer) = (super::without_self(flow, &input), answer(flow, rpc));
        quote! {
            #(#cfgs)*
            #[automatically_derived]
            impl #private::Rpc for __DexRpc<#place> {
                type Flow = #self_ty;
                type Input = #input;
                type Answer = #answer;
            }
        }
    });
    quote! {
        struct __DexRpc<const PLACE: usize>;
        #(#types)*
    }
}

/// The type of the answer, in words that hold outside the block.
pub(super) fn answer(flow: &Flow, rpc: &Rpc) -> TokenStream {
    let returned = returned(rpc);
    if let Some(answer) = written_answer(&returned) {
        return super::without_self(flow, answer);
    }
    // An alias: only the compiler knows what it stands for.
    let (place, returned) = (place(rpc), super::without_self(flow, &returned));
    let private = flow.krate.private_at(place);
    quote_spanned!(place=> <#returned as #private::RpcReturn>::Answer)
}

/// The type of the answer as a person would say it.
pub(super) fn answer_text(rpc: &Rpc) -> String {
    let returned = returned(rpc);
    let answer = written_answer(&returned).unwrap_or(&returned);
    crate::source::text(&answer.to_token_stream())
}

/// The place of the returned type, for what depends on it.
pub(super) fn place(rpc: &Rpc) -> Span {
    generated_at(returned(rpc).span())
}

fn returned(rpc: &Rpc) -> Type {
    match &rpc.handler.returns {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => attributes::unit(),
    }
}

/// Whether it is `RpcResult<T>` by its name.
pub(super) fn is_written(returned: &Type) -> bool {
    crate::source::arguments(returned, "RpcResult").len() == 1
}

/// The `T` of `RpcResult<T>`, of a `Result<T, E>`, or of an alias `Result<T>`, which nobody gives another meaning.
/// Whether it is an answer is asked once, at the call.
fn written_answer(returned: &Type) -> Option<&Type> {
    let of = |name| crate::source::arguments(returned, name);
    match (of("RpcResult").as_slice(), of("Result").as_slice()) {
        ([answer], _) | (_, [answer] | [answer, _]) => Some(answer),
        _ => None,
    }
}
