//! The types of the flow's values, for those who want their JSON schemas.
//!
//! As with calls, a place in a table is the place in the definition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, ReturnType};

use super::{definition, rpcs, steps};
use crate::attributes;
use crate::flow::model::{Flow, Handle, HandleKind, Rpc, Step};
use crate::names::generated_at;

/// The method that gives the schemas, if the flow has the option.
pub(super) fn method(flow: &Flow) -> TokenStream {
    if flow.schemas.is_none() {
        return TokenStream::new();
    }
    let private = flow.krate.private();
    let mut types = Types { flow, known: Vec::new() };
    let output = types.name(&[], &super::without_self(flow, &flow.output));
    let steps: Vec<_> = flow.steps.iter().map(|each| step(&mut types, each)).collect();
    let attributes = values(&mut types, |kind| matches!(kind, HandleKind::Attribute { .. }));
    let channels = values(&mut types, |kind| matches!(kind, HandleKind::Channel));
    let streams = values(&mut types, |kind| matches!(kind, HandleKind::Stream { .. }));
    let rpcs: Vec<_> = flow.rpcs.iter().map(|each| rpc(&mut types, each)).collect();
    let known = types.known.iter().map(|known| &known.binding);
    quote! {
        fn schemas() -> ::core::option::Option<#private::FlowSchemas> {
            #(#known)*
            let __dex_types = #private::SchemaTypes {
                output: #output,
                steps: &[#(#steps),*],
                attributes: &[#(#attributes),*],
                channels: &[#(#channels),*],
                streams: &[#(#streams),*],
                rpcs: &[#(#rpcs),*],
            };
            ::core::option::Option::Some(#private::FlowSchemas::of(Self::definition(), __dex_types))
        }
    }
}

/// The types that were met so far.
///
/// Each is written down once, however many members have it, so that the lack of a schema is told once too.
struct Types<'a> {
    flow: &'a Flow,
    known: Vec<Known>,
}

struct Known {
    /// The conditions and the type as text.
    key: (String, String),
    name: Ident,
    binding: TokenStream,
}

impl Types<'_> {
    /// The variable that makes the schema of `ty`, the type of a member under these conditions.
    fn name(&mut self, cfgs: &[Attribute], ty: &TokenStream) -> Ident {
        let conditions = quote!(#(#cfgs)*).to_string();
        let text = ty.to_string();
        // One that is always there is also there under a condition.
        let is_there =
            |known: &&Known| known.key.1 == text && (known.key.0.is_empty() || known.key.0 == conditions);
        if let Some(known) = self.known.iter().find(is_there) {
            return known.name.clone();
        }
        let private = self.flow.krate.private();
        let name = format_ident!("__dex_schema_{}", self.known.len(), span = Span::call_site());
        let binding = quote!(#(#cfgs)* let #name: #private::SchemaOf = <#ty as #private::HasSchema>::schema;);
        self.known.push(Known { key: (conditions, text), name: name.clone(), binding });
        name
    }
}

fn step(types: &mut Types<'_>, step: &Step) -> TokenStream {
    let cfgs = &step.handler.member.cfgs;
    let input = types.name(cfgs, &super::without_self(types.flow, &steps::input(step)));
    let outcome = outcome(types.flow, step).map(|outcome| types.name(cfgs, &outcome).into_token_stream());
    let outcome = definition::option(outcome);
    quote!(#(#cfgs)* (#input, #outcome))
}

/// The type of what the step's wait gives.
fn outcome(flow: &Flow, step: &Step) -> Option<TokenStream> {
    let wait = flow.waits.get(step.wait?)?;
    if let Some(written) = definition::written_outcome(wait).or(step.outcome()) {
        return Some(super::without_self(flow, written));
    }
    let ReturnType::Type(_, returned) = &wait.handler.returns else {
        return Some(attributes::unit().into_token_stream());
    };
    // An alias: only the compiler knows what it stands for.
    let place = generated_at(returned.span());
    let (private, returned) = (flow.krate.private_at(place), super::without_self(flow, returned));
    Some(quote_spanned!(place=> <#returned as #private::WaitReturn<Self>>::Outcome))
}

fn values(types: &mut Types<'_>, is_its: fn(HandleKind) -> bool) -> Vec<TokenStream> {
    let flow = types.flow;
    flow.handles.iter().filter(|handle| is_its(handle.kind)).map(|handle| value(types, handle)).collect()
}

fn value(types: &mut Types<'_>, handle: &Handle) -> TokenStream {
    let cfgs = &handle.member.cfgs;
    let value = types.name(cfgs, &super::without_self(types.flow, &handle.value));
    quote!(#(#cfgs)* #value)
}

fn rpc(types: &mut Types<'_>, rpc: &Rpc) -> TokenStream {
    let cfgs = &rpc.handler.member.cfgs;
    let input = rpc.handler.input().cloned().unwrap_or_else(attributes::unit);
    let input = types.name(cfgs, &super::without_self(types.flow, &input));
    let answer = types.name(cfgs, &rpcs::answer(types.flow, rpc));
    quote!(#(#cfgs)* (#input, #answer))
}
